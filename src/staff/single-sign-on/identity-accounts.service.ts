/**
 * The accounts behind identities of issuers and directories: found by issuer and subject, linked to an account with the same
 * address if the issuer proves the address, or created if the groups give a role. Roles that groups gave end with the groups.
 */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import type { RequestOrigin } from '../../identity/request-origin';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { actorAs } from '../roles/staff';
import { addressTaken, noAddress, noGroupRole, type SingleSignOnWay } from '../staff.errors';
import { type GrantedRoles, type GroupMapping, NO_ROLES } from './granted-roles';
import { RoleGrants } from './role-grants.service';
import type { IssuedIdentity } from '../../identity/oidc/issued-identity';
import { LinkedStaffMember, StaffIdentityRepository, Transaction } from './staff-identity.repository';

/** The facts that an issuer or a directory states about the person who has signed in there. */
export interface ProvedIdentity extends IssuedIdentity {
  readonly way: SingleSignOnWay;
  /** The roles that the groups give. */
  readonly roles: GroupMapping;
}

export interface AccountOfIdentity {
  readonly member: StaffMemberRecord;
  /** False if all roles came from the groups, and the groups no longer give any. */
  readonly hasRole: boolean;
}

@Injectable()
export class IdentityAccounts {
  constructor(
    private readonly identities: StaffIdentityRepository,
    private readonly members: StaffMemberRepository,
    private readonly grants: RoleGrants,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 403 without a role, 409 for an address that another account has and the last owner, 401 */
  async accountOf(identity: ProvedIdentity, origin: RequestOrigin): Promise<AccountOfIdentity> {
    return this.members.whileOwnersStay(async (manager) => {
      const granted = await this.grants.rolesOf(identity.groups, [identity.roles], manager);
      const linked =
        (await this.identities.find(identity, manager)) ??
        (await this.adopt(identity, granted, origin, manager));
      return this.applyRoles(identity, linked, granted, origin, manager);
    });
  }

  /** The first sign-in. An address that the issuer has not verified neither finds an account nor replaces its address. */
  private async adopt(
    identity: ProvedIdentity,
    granted: GrantedRoles,
    origin: RequestOrigin,
    manager: Transaction,
  ): Promise<LinkedStaffMember> {
    const address = parseEmailAddress(identity.email ?? '');
    if (!address) throw noAddress(identity.way);
    const found = await this.members.findByEmail(address.key);
    if (found && identity.emailVerified !== true) throw addressTaken(identity.way);
    const hasRole = granted.role !== null || Object.keys(granted.projects).length > 0;
    if (!found && (!hasRole || identity.emailVerified === false)) throw noGroupRole(identity.way);
    const account = { email: address.address, emailKey: address.key, name: identity.name ?? address.address };
    const now = this.clock.date();
    const emailVerifiedAt = identity.emailVerified === true ? now : null;
    const member =
      found ??
      (await this.members.insert({ ...account, role: null, passwordHash: null, emailVerifiedAt }, manager));
    if (member.emailVerifiedAt === null && emailVerifiedAt)
      await this.members.handOver(member.id, now, manager);
    await this.identities.link(identity, member.id, now, manager);
    const details = { issuer: identity.issuer, subject: identity.subject };
    const action = `person.${identity.way}_${found ? 'link' : 'create'}`;
    await this.audit.write({ actor: actorAs(member, origin.ip), action, projectId: null, details }, manager);
    return { member: (await this.identities.find(identity, manager))?.member ?? member, granted: NO_ROLES };
  }

  /** A role that a directory's groups also give is kept. */
  private async applyRoles(
    identity: ProvedIdentity,
    { member, granted: before }: LinkedStaffMember,
    granted: GrantedRoles,
    origin: RequestOrigin,
    manager: Transaction,
  ): Promise<AccountOfIdentity> {
    const whole = await this.grants.withProvisioned(member.id, granted, manager);
    const by = { actor: actorAs(member, origin.ip), action: `person.${identity.way}_roles` };
    await this.identities.setGranted(identity, granted, manager);
    return this.grants.give(member, { ...by, before, granted: whole }, manager);
  }
}
