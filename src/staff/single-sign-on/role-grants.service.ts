/** Applies the roles that groups give: an identity's groups at its sign-in, a directory's groups (SCIM) immediately. */
import { Inject, Injectable } from '@nestjs/common';
import { STAFF_CONFIG, StaffConfig } from '../../config/app-config';
import { type Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import type { ProjectRole, StaffMemberRecord } from '../accounts/staff-member';
import { StaffMemberRepository } from '../accounts/staff-member.repository';
import { lastOwner } from '../staff.errors';
import { type GrantedRoles, type GroupMapping, highestRoles, nextRole, rolesOfGroups } from './granted-roles';
import { StaffIdentityRepository, type Transaction } from './staff-identity.repository';

export interface RoleGrant {
  /** Roles that the same source gave before. */
  readonly before: GrantedRoles;
  readonly granted: GrantedRoles;
  readonly actor: Actor;
  readonly action: string;
}

@Injectable()
export class RoleGrants {
  private readonly mappings: readonly GroupMapping[];

  constructor(
    private readonly identities: StaffIdentityRepository,
    private readonly members: StaffMemberRepository,
    private readonly audit: AuditLogRepository,
    @Inject(STAFF_CONFIG) { oidc, saml, ldap }: StaffConfig,
  ) {
    this.mappings = [oidc, saml, ldap].flatMap((way) => (way ? [way.roles] : []));
  }

  /** @returns the role of the installation, and whether the member has any role @throws AppError 409 for the last owner */
  async give(
    member: StaffMemberRecord,
    { before, granted, actor, action }: RoleGrant,
    manager: Transaction,
  ): Promise<{ member: StaffMemberRecord; hasRole: boolean }> {
    const role = nextRole(member.role, before.role, granted.role);
    const roles = await this.identities.projectRoles(member.id, manager);
    const projects = changedProjects(roles, before, granted);
    if (role !== member.role) await this.identities.setRole(member.id, role, manager);
    for (const [id, next] of projects) {
      if (next === null) await this.identities.removeProjectRole(id, member.id, manager);
      else await this.members.setProjectRole(id, member.id, next, manager);
    }
    if (role !== member.role || projects.size > 0) {
      const details = { person_id: member.id, role, projects: Object.fromEntries(projects) };
      await this.audit.write({ actor, action, projectId: null, details }, manager);
    }
    const wasOwner = member.role === 'owner' && member.disabledAt === null;
    if (wasOwner && !(await this.members.hasOwner(manager))) throw lastOwner();
    const left = await this.identities.projectRoles(member.id, manager);
    return { member: { ...member, role }, hasRole: role !== null || left.size > 0 };
  }

  /** Roles by project id; slugs without a project are left out. */
  async rolesOf(
    groups: readonly string[],
    mappings: readonly GroupMapping[],
    manager: Transaction,
  ): Promise<GrantedRoles> {
    const { role, projects } = rolesOfGroups(groups, mappings);
    const ids = await this.identities.projectIds(Object.keys(projects), manager);
    const entries = Object.entries(projects).flatMap(([slug, one]) => {
      const id = ids.get(slug);
      return id === undefined ? [] : [[id, one] as const];
    });
    return { role, projects: Object.fromEntries(entries) };
  }

  /** Adds the roles that a directory's groups give the member. */
  async withProvisioned(
    memberId: string,
    granted: GrantedRoles,
    manager: Transaction,
  ): Promise<GrantedRoles> {
    const provisioned = await this.identities.provisioned([memberId], manager);
    return highestRoles([granted, ...provisioned.map(({ before }) => before)]);
  }

  /** Updates the roles after a change of the groups of these people. @throws AppError 409 for the last owner */
  async provision(memberIds: readonly string[], actor: Actor, manager: Transaction): Promise<void> {
    for (const { member, before, groups } of await this.identities.provisioned(memberIds, manager)) {
      const granted = await this.rolesOf(groups, this.mappings, manager);
      if (isNothing(granted) && isNothing(before)) continue;
      await this.identities.setProvisioned(member.id, granted, manager);
      await this.give(member, { before, granted, actor, action: 'person.scim_roles' }, manager);
    }
  }
}

const isNothing = ({ role, projects }: GrantedRoles): boolean =>
  role === null && Object.keys(projects).length === 0;

/** Roles by project id; null removes a role. */
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
