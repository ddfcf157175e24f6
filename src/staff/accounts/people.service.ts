/** People as owners, operators and project administrators manage them. Nobody grants or touches more than they have. */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import type { JsonObject } from '../../common/text/json';
import type { Actor, AuditEntry } from '../../install/audit/audit-log.repository';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { installRoleOf, Staff } from '../roles/staff';
import { personNotFound, roleForbids } from '../staff.errors';
import type { InstallRole, Membership, PersonRecord, ProjectRole } from './person';
import { PeopleRepository, PersonChange, ProjectMember } from './people.repository';

@Injectable()
export class PeopleService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly projects: ProjectRegistry,
    private readonly owner: OwnerDatabase,
    private readonly clock: Clock,
  ) {}

  async list(): Promise<PersonRecord[]> {
    return this.people.list();
  }

  /** @throws AppError 403 where an owner is concerned and the sender is none, 404, 409 for the last owner */
  async update(staff: Staff, id: string, change: PersonChange, actor: Actor): Promise<PersonRecord> {
    assertId(id);
    assertMayGrant(staff, change.role ?? null);
    const details = { person_id: id, ...change } as JsonObject;
    const now = new Date(this.clock.now());
    return this.people.update(
      id,
      (before) => assertMayGrant(staff, before.role),
      change,
      now,
      entryOf('person.update', actor, null, details),
    );
  }

  /** @throws as update() */
  async remove(staff: Staff, id: string, actor: Actor): Promise<void> {
    assertId(id);
    await this.people.remove(
      id,
      (before) => assertMayGrant(staff, before.role),
      entryOf('person.delete', actor, null, { person_id: id }),
    );
  }

  /** @throws AppError 404 */
  async projectsOf(id: string): Promise<Membership[]> {
    assertId(id);
    if (!(await this.people.find(id))) throw personNotFound();
    return this.people.projectsOf(id);
  }

  /** @throws AppError 404 */
  async membersOf(projectId: string): Promise<ProjectMember[]> {
    await this.projects.get(projectId);
    return this.people.membersOf(projectId);
  }

  /** @param who the id of the person, or their address @throws AppError 404 */
  async giveProjectRole(
    projectId: string,
    who: string,
    role: ProjectRole,
    actor: Actor,
  ): Promise<ProjectMember> {
    await this.projects.get(projectId);
    const person = await this.find(who);
    const entry = entryOf('project.person.set', actor, projectId, { person_id: person.id, role });
    await this.people.giveProjectRole(projectId, person.id, role, entry);
    return { ...person, projectRole: role };
  }

  /** @param rotatePassword gives the project's database another password @throws AppError 404 */
  async takeProjectRole(
    projectId: string,
    who: string,
    rotatePassword: boolean,
    actor: Actor,
  ): Promise<void> {
    await this.projects.get(projectId);
    const { id } = await this.find(who);
    const entry = entryOf('project.person.remove', actor, projectId, { person_id: id });
    if (!(await this.people.takeProjectRole(projectId, id, entry))) throw personNotFound();
    if (rotatePassword) await this.owner.rotatePassword(projectId, actor);
  }

  private async find(who: string): Promise<PersonRecord> {
    const key = parseEmailAddress(who)?.key;
    const byId = UUID.test(who) ? await this.people.find(who) : null;
    const person = key === undefined ? byId : await this.people.findByEmail(key);
    if (!person) throw personNotFound();
    return person;
  }
}

/** Only an owner makes, changes or removes an owner. @throws AppError 403 */
export function assertMayGrant(staff: Staff, role: InstallRole | null): void {
  if (role === 'owner' && installRoleOf(staff) !== 'owner') throw roleForbids();
}

/** @throws AppError 404 */
function assertId(id: string): void {
  if (!UUID.test(id)) throw personNotFound();
}

const entryOf = (
  action: string,
  actor: Actor,
  projectId: string | null,
  details: JsonObject,
): AuditEntry => ({ actor, action, projectId, details });
