/**
 * The accounts behind identities of the issuer: found by issuer and subject, linked to an account with the same address if the
 * issuer verified the address, or created if the groups give a role. Roles that groups gave go with the groups.
 */
import { Inject, Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import type { RequestOrigin } from '../../identity/request-origin';
import { Clock } from '../../common/time/clock';
import { STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { StaffMemberRecord, ProjectRole } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { actorAs } from '../roles/staff';
import { lastOwner, oidcAddressTaken, oidcNoRole } from '../staff.errors';
import { oidcFailed } from '../../identity/identity.errors';
import { GrantedRoles, nextRole, rolesOfGroups } from './granted-roles';
import type { IssuedIdentity } from '../../identity/oidc/issued-identity';
import { LinkedStaffMember, OidcIdentityRepository, Transaction } from './oidc-identity.repository';

export interface AccountOfIdentity {
  readonly member: StaffMemberRecord;
  /** False: the groups gave the only roles, and no longer do. */
  readonly hasRole: boolean;
}

const NO_ROLES: GrantedRoles = { role: null, projects: {} };

@Injectable()
export class OidcAccounts {
  constructor(
    private readonly identities: OidcIdentityRepository,
    private readonly members: StaffMemberRepository,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
    @Inject(STAFF_CONFIG) private readonly config: StaffConfig,
  ) {}

  /** @throws AppError 403 without a role, 409 for an address that another account has and the last owner, 401 */
  async accountOf(identity: IssuedIdentity, origin: RequestOrigin): Promise<AccountOfIdentity> {
    return this.members.whileOwnersStay(async (manager) => {
      const granted = await this.rolesOf(identity.groups, manager);
      const linked =
        (await this.identities.find(identity, manager)) ??
        (await this.adopt(identity, granted, origin, manager));
      return this.applyRoles(identity, linked, granted, origin, manager);
    });
  }

  /** Projects by id; slugs without a project are left out. */
  private async rolesOf(groups: readonly string[], manager: Transaction): Promise<GrantedRoles> {
    const { role, projects } = rolesOfGroups(groups, this.config.oidc?.roles ?? {});
    const ids = await this.identities.projectIds(Object.keys(projects), manager);
    const entries = Object.entries(projects).flatMap(([slug, one]) => {
      const id = ids.get(slug);
      return id === undefined ? [] : [[id, one] as const];
    });
    return { role, projects: Object.fromEntries(entries) };
  }

  /** The first sign-in. An address that the issuer has not verified neither finds an account nor takes one's place. */
  private async adopt(
    identity: IssuedIdentity,
    granted: GrantedRoles,
    origin: RequestOrigin,
    manager: Transaction,
  ): Promise<LinkedStaffMember> {
    const address = parseEmailAddress(identity.email ?? '');
    if (!address) throw oidcFailed(new Error('the issuer gave no email'));
    const found = await this.members.findByEmail(address.key);
    if (found && identity.emailVerified !== true) throw oidcAddressTaken();
    const hasRole = granted.role !== null || Object.keys(granted.projects).length > 0;
    if (!found && (!hasRole || identity.emailVerified === false)) throw oidcNoRole();
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
    const action = found ? 'person.oidc_link' : 'person.oidc_create';
    await this.audit.write({ actor: actorAs(member, origin.ip), action, projectId: null, details }, manager);
    return { member: (await this.identities.find(identity, manager))?.member ?? member, granted: NO_ROLES };
  }

  private async applyRoles(
    identity: IssuedIdentity,
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
      const actor = actorAs(member, origin.ip);
      await this.audit.write({ actor, action: 'person.oidc_roles', projectId: null, details }, manager);
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
