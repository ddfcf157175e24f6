/** Identities of staff at issuers and directories, and the roles that their groups give, in the platform database. */
import { Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';
import {
  type InstallRole,
  MEMBER_COLUMNS,
  type ProjectRole,
  type StaffMemberRecord,
} from '../accounts/staff-member';
import type { GrantedRoles } from './granted-roles';

/** A staff member with the roles that the groups gave at the previous sign-in. */
export interface LinkedStaffMember {
  readonly member: StaffMemberRecord;
  /** Roles by project id. */
  readonly granted: GrantedRoles;
}

export interface ProvisionedMember {
  readonly member: StaffMemberRecord;
  readonly groups: readonly string[];
  /** Roles by project id. */
  readonly before: GrantedRoles;
}

/** The transaction of one sign-in, for the service that spans several repositories. */
export type Transaction = EntityManager;

interface Subject {
  readonly issuer: string;
  readonly subject: string;
}

@Injectable()
export class StaffIdentityRepository {
  async find({ issuer, subject }: Subject, manager: EntityManager): Promise<LinkedStaffMember | null> {
    const [row] = await manager.query<(StaffMemberRecord & { granted: GrantedRoles })[]>(
      `select ${MEMBER_COLUMNS},
         jsonb_build_object('role', i.granted_role, 'projects', i.granted_projects) as granted
       from staff_identities i join staff_people p on p.id = i.person_id
       where i.issuer = $1 and i.subject = $2 for update of p`,
      [issuer, subject],
    );
    if (!row) return null;
    const { granted, ...member } = row;
    return { member, granted };
  }

  async link(
    { issuer, subject }: Subject,
    memberId: string,
    now: Date,
    manager: EntityManager,
  ): Promise<void> {
    await manager.query(
      'insert into staff_identities (issuer, subject, person_id, created_at) values ($1, $2, $3, $4)',
      [issuer, subject, memberId, now],
    );
  }

  /** Records the roles that the groups give now. @param granted projects by id */
  async setGranted(
    { issuer, subject }: Subject,
    granted: GrantedRoles,
    manager: EntityManager,
  ): Promise<void> {
    await manager.query(
      'update staff_identities set granted_role = $3, granted_projects = $4 where issuer = $1 and subject = $2',
      [issuer, subject, granted.role, JSON.stringify(granted.projects)],
    );
  }

  /** The given members with the names and external ids of their directory groups, and the roles that these groups gave before. */
  async provisioned(memberIds: readonly string[], manager: EntityManager): Promise<ProvisionedMember[]> {
    const rows = await manager.query<(StaffMemberRecord & Omit<ProvisionedMember, 'member'>)[]>(
      `select ${MEMBER_COLUMNS},
         coalesce((select array_agg(key) from scim_group_members m join scim_groups g on g.id = m.group_id
           cross join unnest(array[g.display_name, g.external_id]) key
           where m.person_id = p.id and key is not null), '{}') as groups,
         coalesce((select jsonb_build_object('role', r.role, 'projects', r.projects)
           from scim_granted_roles r where r.person_id = p.id), '{"role": null, "projects": {}}') as before
       from staff_people p where p.id = any ($1::uuid[]) order by p.id for update of p`,
      [memberIds],
    );
    return rows.map(({ groups, before, ...member }) => ({ member, groups, before }));
  }

  /** @param granted projects by id */
  async setProvisioned(memberId: string, granted: GrantedRoles, manager: EntityManager): Promise<void> {
    await manager.query(
      `insert into scim_granted_roles (person_id, role, projects) values ($1, $2, $3)
       on conflict (person_id) do update set role = excluded.role, projects = excluded.projects`,
      [memberId, granted.role, JSON.stringify(granted.projects)],
    );
  }

  /** Ids of the active projects with these slugs, by slug. */
  async projectIds(slugs: readonly string[], manager: EntityManager): Promise<ReadonlyMap<string, string>> {
    const rows = await manager.query<{ id: string; slug: string }[]>(
      `select id, slug from projects where slug = any ($1::text[]) and status = 'active'`,
      [slugs],
    );
    return new Map(rows.map(({ id, slug }) => [slug, id]));
  }

  /** Roles of the staff member by project id. */
  async projectRoles(memberId: string, manager: EntityManager): Promise<ReadonlyMap<string, ProjectRole>> {
    const rows = await manager.query<{ project_id: string; role: ProjectRole }[]>(
      'select project_id, role from staff_members where person_id = $1',
      [memberId],
    );
    return new Map(rows.map(({ project_id: id, role }) => [id, role]));
  }

  /** Invitations carry the rights of the staff member who made them, so they end with a change of roles. */
  async setRole(memberId: string, role: InstallRole | null, manager: EntityManager): Promise<void> {
    await manager.query('update staff_people set role = $2 where id = $1', [memberId, role]);
    await this.withdrawInvitations(memberId, manager);
  }

  async removeProjectRole(projectId: string, memberId: string, manager: EntityManager): Promise<void> {
    await manager.query('delete from staff_members where project_id = $1 and person_id = $2', [
      projectId,
      memberId,
    ]);
    await this.withdrawInvitations(memberId, manager);
  }

  private async withdrawInvitations(memberId: string, manager: EntityManager): Promise<void> {
    await manager.query('delete from staff_invitations where invited_by = $1', [memberId]);
  }
}
