/** Staff as owners, operators and project administrators manage them, each only within their own rights. */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import { UUID } from '../../common/text/uuid';
import { AppError } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import type { JsonObject } from '../../common/text/json';
import type { Actor } from '../../install/audit/audit-log.repository';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { installRoleOf, StaffCaller } from '../roles/staff';
import { passwordsKept, staffMemberNotFound, roleForbids } from '../staff.errors';
import {
  auditEntry,
  type InstallRole,
  type Membership,
  type ProjectRole,
  type StaffMemberRecord,
} from './staff-member';
import { StaffMemberRepository, StaffMemberChange, ProjectMember } from './staff-member.repository';

@Injectable()
export class StaffMemberService {
  constructor(
    private readonly members: StaffMemberRepository,
    private readonly projects: ProjectRegistry,
    private readonly owner: OwnerDatabase,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<StaffMemberRecord[]> {
    return this.members.list();
  }

  /**
   * @param rotatePasswords also changes the password of each database whose password the staff member may know
   * @throws AppError 403 if an owner is concerned and the sender is not an owner, 404 for an unknown staff member,
   * 409 for the last owner, 503 when the password of a database cannot be changed
   */
  async updateMember(
    staff: StaffCaller,
    id: string,
    change: StaffMemberChange,
    rotatePasswords: boolean,
    actor: Actor,
  ): Promise<StaffMemberRecord> {
    assertId(id);
    const known = rotatePasswords ? await this.members.projectsKnownTo(id) : [];
    assertMayGrant(staff, change.role ?? null);
    const details = { person_id: id, ...change } as JsonObject;
    const now = this.clock.date();
    const changed = await this.members.updateMember(
      id,
      (before) => assertMayGrant(staff, before.role),
      change,
      now,
      auditEntry('person.update', actor, details),
    );
    await this.rotate(known, actor);
    return changed;
  }

  /** @throws as updateMember() */
  async remove(staff: StaffCaller, id: string, rotatePasswords: boolean, actor: Actor): Promise<void> {
    assertId(id);
    const known = rotatePasswords ? await this.members.projectsKnownTo(id) : [];
    await this.members.remove(
      id,
      (before) => assertMayGrant(staff, before.role),
      auditEntry('person.delete', actor, { person_id: id }),
    );
    await this.rotate(known, actor);
  }

  /** @throws AppError 404 for an unknown staff member */
  async projectsOf(id: string): Promise<Membership[]> {
    assertId(id);
    if (!(await this.members.find(id))) throw staffMemberNotFound();
    return this.members.projectsOf(id);
  }

  /** @throws AppError 404 for an unknown project */
  async membersOf(projectId: string): Promise<ProjectMember[]> {
    await this.projects.get(projectId);
    return this.members.membersOf(projectId);
  }

  /**
   * @param who the id of the staff member, or their address
   * @param rotatePassword changes the password of the project's database
   * @throws AppError 404 for an unknown staff member or project
   */
  async giveProjectRole(
    projectId: string,
    who: string,
    role: ProjectRole,
    rotatePassword: boolean,
    actor: Actor,
  ): Promise<ProjectMember> {
    await this.projects.get(projectId);
    const member = await this.find(who);
    const entry = auditEntry('project.person.set', actor, { person_id: member.id, role }, projectId);
    await this.members.giveProjectRole(projectId, member.id, role, entry);
    if (rotatePassword) await this.owner.rotatePassword(projectId, actor);
    return { ...member, projectRole: role };
  }

  /**
   * @param rotatePassword changes the password of the project's database
   * @throws AppError 404 for an unknown staff member or project
   */
  async takeProjectRole(
    projectId: string,
    who: string,
    rotatePassword: boolean,
    actor: Actor,
  ): Promise<void> {
    await this.projects.get(projectId);
    const { id } = await this.find(who);
    const entry = auditEntry('project.person.remove', actor, { person_id: id }, projectId);
    if (!(await this.members.takeProjectRole(projectId, id, entry))) throw staffMemberNotFound();
    if (rotatePassword) await this.owner.rotatePassword(projectId, actor);
  }

  /** Changes as many passwords as possible: the server of a project may be down. */
  private async rotate(projects: readonly { id: string; slug: string }[], actor: Actor): Promise<void> {
    const failed: string[] = [];
    for (const { id, slug } of projects)
      await this.owner.rotatePassword(id, actor).catch((error: unknown) => {
        // The project was deleted after it was listed.
        if (!(error instanceof AppError && error.status === 404)) failed.push(slug);
      });
    if (failed.length > 0) throw passwordsKept(failed);
  }

  private async find(who: string): Promise<StaffMemberRecord> {
    const key = parseEmailAddress(who)?.key;
    const byId = UUID.test(who) ? await this.members.find(who) : null;
    const member = key === undefined ? byId : await this.members.findByEmail(key);
    if (!member) throw staffMemberNotFound();
    return member;
  }
}

/** Only an owner may create, change or remove an owner. @throws AppError 403 for any other sender */
export function assertMayGrant(staff: StaffCaller, role: InstallRole | null): void {
  if (role === 'owner' && installRoleOf(staff) !== 'owner') throw roleForbids();
}

/** @throws AppError 404 for a text that is not an id */
function assertId(id: string): void {
  if (!UUID.test(id)) throw staffMemberNotFound();
}
