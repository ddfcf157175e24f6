/**
 * The accounts behind identities of issuers and directories: found by issuer and subject, linked to an account with the same address
 * if the issuer proves the address, or created if the groups give a role. Roles that groups gave go with the groups.
 */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import type { RequestOrigin } from '../../identity/request-origin';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { StaffMemberRecord, ProjectRole } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { actorAs } from '../roles/staff';
import { addressTaken, lastOwner, noAddress, noGroupRole, type SingleSignOnWay } from '../staff.errors';
import { GrantedRoles, type GroupMapping, nextRole, rolesOfGroups } from './granted-roles';
import type { IssuedIdentity } from '../../identity/oidc/issued-identity';
import { LinkedStaffMember, StaffIdentityRepository, Transaction } from './staff-identity.repository';

/** What an issuer or a directory says about the person who signed in there. */
export interface ProvedIdentity extends IssuedIdentity {
  readonly way: SingleSignOnWay;
  /** Of its groups. */
  readonly roles: GroupMapping;
}

export interface AccountOfIdentity {
  readonly member: StaffMemberRecord;
  /** False: the groups gave the only roles, and no longer do. */
  readonly hasRole: boolean;
}

const NO_ROLES: GrantedRoles = { role: null, projects: {} };

@Injectable()
export class IdentityAccounts {
  constructor(
    private readonly identities: StaffIdentityRepository,
    private readonly members: StaffMemberRepository,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 403 without a role, 409 for an address that another account has and the last owner, 401 */
  async accountOf(identity: ProvedIdentity, origin: RequestOrigin): Promise<AccountOfIdentity> {
    return this.members.whileOwnersStay(async (manager) => {
      const granted = await this.rolesOf(identity, manager);
      const linked =
        (await this.identities.find(identity, manager)) ??
        (await this.adopt(identity, granted, origin, manager));
      return this.applyRoles(identity, linked, granted, origin, manager);
    });
  }

  /** Projects by id; slugs without a project are left out. */
  private async rolesOf({ groups, roles }: ProvedIdentity, manager: Transaction): Promise<GrantedRoles> {
    const { role, projects } = rolesOfGroups(groups, roles);
    const ids = await this.identities.projectIds(Object.keys(projects), manager);
    const entries = Object.entries(projects).flatMap(([slug, one]) => {
      const id = ids.get(slug);
      return id === undefined ? [] : [[id, one] as const];
    });
    return { role, projects: Object.fromEntries(entries) };
  }

  /** The first sign-in. An address that the issuer has not verified neither finds an account nor takes one's place. */
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

  private async applyRoles(
    identity: ProvedIdentity,
    { member, granted: before }: LinkedStaffMember,
    granted: GrantedRoles,
    origin: RequestOrigin,
    manager: Transaction,
  ): Promise<AccountOfIdentity> {
    const role = nextRole(member.role, before.role, granted.role);
    const roles = await this.identities.projectRoles(member.id, manager);
    const projects = changedProjects(roles, before, granted);
    if (role !== member.role) await this.identities.setRole(member.id, role, manager);
    for (const [id, next] of projects) {
      if (next === null) await this.identities.removeProjectRole(id, member.id, manager);
      else await this.members.setProjectRole(id, member.id, next, manager);
    }
    await this.identities.setGranted(identity, granted, manager);
    if (role !== member.role || projects.size > 0) {
      const details = { person_id: member.id, role, projects: Object.fromEntries(projects) };
      const entry = { actor: actorAs(member, origin.ip), action: `person.${identity.way}_roles` };
      await this.audit.write({ ...entry, projectId: null, details }, manager);
    }
    const wasOwner = member.role === 'owner' && member.disabledAt === null;
    if (wasOwner && !(await this.members.hasOwner(manager))) throw lastOwner();
    const left = await this.identities.projectRoles(member.id, manager);
    return { member: { ...member, role }, hasRole: role !== null || left.size > 0 };
  }
}

/** By id; null: the role goes. */
function changedProjects(
  roles: ReadonlyMap<string, ProjectRole>,
  before: GrantedRoles,
  granted: GrantedRoles,
): ReadonlyMap<string, ProjectRole | null> {
  const ids = new Set([...Object.keys(before.projects), ...Object.keys(granted.projects)]);
  const changes = [...ids].flatMap((id) => {
    const current = roles.get(id) ?? null;
    const next = nextRole(current, before.projects[id] ?? null, granted.projects[id] ?? null);
    return next === current ? [] : [[id, next] as const];
  });
  return new Map(changes);
}
