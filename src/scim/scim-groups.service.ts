/** Operations of directories on groups (SCIM 2.0). */
import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/text/json';
import { isStorableText } from '../common/text/storable';
import { UUID } from '../common/text/uuid';
import { Clock } from '../common/time/clock';
import { refusingDuplicate } from '../database/sql/sqlstate';
import type { GroupOutcome } from './scim-directory';
import { type GroupTables, ScimGroupRepository } from './scim-group.repository';
import {
  type GroupChange,
  type GroupFilter,
  MAX_MEMBERS,
  type MemberChange,
  type ScimGroup,
  toScimGroup,
  unknownMember,
} from './scim-groups';
import { type ScimPage, toScimList } from './scim-people';
import { scimGroupExists, scimGroupNotFound, scimTooMany } from './scim.errors';
import type { ScimCaller } from './scim.service';

const TOO_MANY_GROUPS = 'The directory has too many groups';
const TOO_MANY_MEMBERS = `The group would have more than ${MAX_MEMBERS} members, or a member more groups than tokens can name`;

@Injectable()
export class ScimGroups {
  constructor(
    private readonly rows: ScimGroupRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 for an unknown group */
  async get({ directory, base }: ScimCaller, id: string, withMembers: boolean): Promise<JsonObject> {
    const group = await this.find(directory.groups, id);
    return this.show(directory.groups, group, withMembers, base);
  }

  /** A page ends early if it would have more than MAX_MEMBERS members. */
  async list(
    { directory, base }: ScimCaller,
    filter: GroupFilter,
    page: ScimPage,
    withMembers: boolean,
  ): Promise<JsonObject> {
    if (!isAnswerable(filter)) return toScimList([], 0, page.offset + 1);
    const { total, groups } = await this.rows.list(directory.groups, filter, page);
    if (!withMembers)
      return toScimList(
        groups.map((group) => toScimGroup(group, null, base)),
        total,
        page.offset + 1,
      );
    let size = 0;
    const shown = groups.filter((group, index) => (size += group.size) <= MAX_MEMBERS || index === 0);
    const members = await this.rows.members(
      directory.groups,
      shown.map(({ id }) => id),
    );
    const resources = shown.map((group) => toScimGroup(group, members.get(group.id) ?? [], base));
    return toScimList(resources, total, page.offset + 1);
  }

  /** @throws AppError 400 for an invalid body, 409 for a taken name, 413 for too many groups or members */
  async create({ directory, base, origin }: ScimCaller, change: GroupChange): Promise<JsonObject> {
    const work = async (tables: GroupTables): Promise<GroupOutcome<JsonObject>> => {
      const group = await this.rows.create(tables, change, this.clock.date());
      if (!group) throw scimTooMany(TOO_MANY_GROUPS);
      const moved = await this.changeMembers(tables, group.id, change.members);
      const result = await this.show(tables, group, true, base);
      return { result, action: 'create', group: group.displayName, ...moved };
    };
    return refusingDuplicate(directory.changeGroup(work, origin), scimGroupExists);
  }

  /**
   * @throws AppError 400 for an invalid body, 404 for an unknown group, 409 for a taken name or the last
   * owner, 413 for too many members
   */
  async updateGroup(
    { directory, base, origin }: ScimCaller,
    id: string,
    change: GroupChange,
  ): Promise<JsonObject> {
    const work = async (tables: GroupTables): Promise<GroupOutcome<JsonObject>> => {
      const before = await this.find(tables, id);
      const group = await this.rows.updateGroup(tables, before.id, change, this.clock.date());
      if (!group) throw scimGroupNotFound();
      const moved = await this.changeMembers(tables, group.id, change.members);
      const result = await this.show(tables, group, true, base);
      const isRenamed = group.displayName !== before.displayName;
      const isMapped = isRenamed || group.externalId !== before.externalId;
      const stayed = isMapped ? await this.stayed(tables, group.id, moved.gained) : [];
      const gained = isRenamed ? moved.gained : [...moved.gained, ...stayed];
      const lost = isRenamed ? [...moved.lost, ...stayed] : moved.lost;
      return { result, action: 'update', group: group.displayName, gained, lost };
    };
    return refusingDuplicate(directory.changeGroup(work, origin), scimGroupExists);
  }

  /** @throws AppError 404 for an unknown group */
  async remove({ directory, origin }: ScimCaller, id: string): Promise<void> {
    await directory.changeGroup(async (tables) => {
      const group = await this.find(tables, id);
      const lost = await this.membersOf(tables, group.id);
      await this.rows.remove(tables, group.id);
      return { result: undefined, action: 'delete', group: group.displayName, gained: [], lost };
    }, origin);
  }

  private async find(tables: GroupTables, id: string): Promise<ScimGroup> {
    const group = UUID.test(id) ? await this.rows.find(tables, id.toLowerCase()) : null;
    if (!group) throw scimGroupNotFound();
    return group;
  }

  private async show(
    tables: GroupTables,
    group: ScimGroup,
    withMembers: boolean,
    base: string,
  ): Promise<JsonObject> {
    return toScimGroup(group, withMembers ? await this.membersOf(tables, group.id) : null, base);
  }

  private async membersOf(tables: GroupTables, id: string): Promise<string[]> {
    return (await this.rows.members(tables, [id])).get(id) ?? [];
  }

  /** The members, except those who were added by the change. */
  private async stayed(tables: GroupTables, id: string, gained: readonly string[]): Promise<string[]> {
    const all = await this.membersOf(tables, id);
    if (await this.rows.isTooMuch(tables, id, all)) throw scimTooMany(TOO_MANY_MEMBERS);
    const isNew = new Set(gained);
    return all.filter((one) => !isNew.has(one));
  }

  private async changeMembers(
    tables: GroupTables,
    id: string,
    change: MemberChange = { replaces: false, added: [], removed: [] },
  ): Promise<{ gained: string[]; lost: string[] }> {
    if (!(await this.rows.areAllKnown(tables, change.added))) throw unknownMember();
    const moved = await this.rows.changeMembers(tables, id, change);
    if (await this.rows.isTooMuch(tables, id, moved.gained)) throw scimTooMany(TOO_MANY_MEMBERS);
    return moved;
  }
}

/** False for a filter that no group can match: no group has an id that is not a UUID. */
function isAnswerable({ displayName = '', externalId = '', id, member }: GroupFilter): boolean {
  const ids = [id, member].filter((one) => one !== undefined);
  return ids.every((one) => UUID.test(one)) && isStorableText(displayName) && isStorableText(externalId);
}
