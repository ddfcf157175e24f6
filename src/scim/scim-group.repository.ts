/**
 * Groups that directories provision: the tables are the same for staff in the platform database and for users
 * in a project's database.
 */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../database/rows/record-reader';
import {
  type GroupChange,
  type GroupFilter,
  MAX_MEMBERS,
  type MemberChange,
  type ScimGroup,
} from './scim-groups';
import type { ScimMembership, ScimPage } from './scim-people';

export type GroupQuery = (text: string, values: readonly unknown[]) => Promise<readonly QueryResultRow[]>;

/** The tables with the groups of a directory. */
export interface GroupTables {
  /** SQL: the prefix of scim_groups and scim_group_members, `auth.` or empty. */
  readonly schema: 'auth.' | '';
  /** SQL: the table of people. */
  readonly people: 'auth.users' | 'staff_people';
  readonly query: GroupQuery;
}

/** Maximum number of groups of a directory. */
const MAX_GROUPS = 1_000;
/** Maximum bytes of the names of a person's groups, as JSON, since each token of a user contains them. */
const MAX_GROUP_NAMES = 1_024;
/** Maximum characters of a name. */
const MAX_NAME = 1_000;
/** A person has at most as many groups as fit into MAX_GROUP_NAMES; only a project's owner can add more. */
const MAX_MEMBERSHIPS = 200 * MAX_GROUP_NAMES;

const COLUMNS = 'g.id, g.display_name, g.external_id, g.created_at, g.updated_at';
const keyOf = (displayName: string): string => displayName.toLowerCase();

@Injectable()
export class ScimGroupRepository {
  async find({ schema, query }: GroupTables, id: string): Promise<ScimGroup | null> {
    const rows = await query(`select ${COLUMNS} from ${schema}scim_groups g where g.id = $1`, [id]);
    return rows[0] ? toGroup(rows[0]) : null;
  }

  /** Groups in the order of their creation, with the numbers of their members. */
  async list(
    { schema, query }: GroupTables,
    { displayName, externalId, id, member }: GroupFilter,
    { offset, limit }: ScimPage,
  ): Promise<{ total: number; groups: (ScimGroup & { readonly size: number })[] }> {
    const members = `${schema}scim_group_members`;
    const where = `where ($1::text is null or g.name_key = $1) and ($2::text is null or g.external_id = $2)
      and ($3::uuid is null or g.id = $3) and ($4::uuid is null or exists (
        select from ${members} m where m.group_id = g.id and m.person_id = $4))`;
    const name = displayName === undefined ? null : keyOf(displayName);
    const values = [name, externalId ?? null, id ?? null, member ?? null];
    const [count] = await query(`select count(*) as total from ${schema}scim_groups g ${where}`, values);
    const rows = await query(
      `select ${COLUMNS}, (select count(*) from ${members} m where m.group_id = g.id) as size
       from ${schema}scim_groups g ${where} order by g.created_at, g.id offset $5 limit $6`,
      [...values, offset, limit],
    );
    const total = new RecordReader('scim_groups', count).integer('total', 0, Number.MAX_SAFE_INTEGER);
    return { total, groups: rows.map((row) => ({ ...toGroup(row), size: sizeOf(row) })) };
  }

  /** Returns at most MAX_MEMBERS members of all groups together. */
  async members({ schema, query }: GroupTables, groupIds: readonly string[]): Promise<Map<string, string[]>> {
    const rows = await query(
      `select m.group_id, m.person_id from ${schema}scim_group_members m where m.group_id = any ($1::uuid[])
       order by m.group_id, m.person_id limit $2`,
      [groupIds, MAX_MEMBERS],
    );
    return grouped(rows, 'group_id', (row) => row.uuid('person_id'));
  }

  /** The groups of people, by the id of the person. */
  async memberships(
    { schema, query }: GroupTables,
    personIds: readonly string[],
  ): Promise<Map<string, ScimMembership[]>> {
    const rows = await query(
      `select m.person_id, g.id, g.display_name
       from ${schema}scim_group_members m join ${schema}scim_groups g on g.id = m.group_id
       where m.person_id = any ($1::uuid[]) order by g.display_name limit $2`,
      [personIds, MAX_MEMBERSHIPS],
    );
    return grouped(rows, 'person_id', (row) => ({
      id: row.uuid('id'),
      displayName: row.text('display_name', MAX_NAME),
    }));
  }

  /** Fails with 23505 if the name is taken. @returns null if there are too many groups */
  async create({ schema, query }: GroupTables, change: GroupChange, now: Date): Promise<ScimGroup | null> {
    const { displayName = '', externalId = null } = change;
    const rows = await query(
      `with g as (
         insert into ${schema}scim_groups (display_name, name_key, external_id, created_at, updated_at)
         select $1, $2, $3, $4, $4 where (select count(*) from ${schema}scim_groups) < ${MAX_GROUPS} returning *)
       select ${COLUMNS} from g`,
      [displayName, keyOf(displayName), externalId, now],
    );
    return rows[0] ? toGroup(rows[0]) : null;
  }

  /** Fails with 23505 if the name is taken. @returns null for an unknown group */
  async updateGroup(
    { schema, query }: GroupTables,
    id: string,
    { displayName, externalId }: GroupChange,
    now: Date,
  ): Promise<ScimGroup | null> {
    const rows = await query(
      `with g as (
         update ${schema}scim_groups set display_name = coalesce($2, display_name), name_key = coalesce($3, name_key),
           external_id = case when $4 then $5 else external_id end, updated_at = $6
         where id = $1 returning *)
       select ${COLUMNS} from g`,
      [
        id,
        displayName ?? null,
        displayName === undefined ? null : keyOf(displayName),
        externalId !== undefined,
        externalId ?? null,
        now,
      ],
    );
    return rows[0] ? toGroup(rows[0]) : null;
  }

  async remove({ schema, query }: GroupTables, id: string): Promise<void> {
    await query(`with g as (delete from ${schema}scim_groups where id = $1 returning id) select from g`, [
      id,
    ]);
  }

  async areAllKnown({ people, query }: GroupTables, personIds: readonly string[]): Promise<boolean> {
    const statement = `select w.id from unnest($1::uuid[]) w (id)
      where not exists (select from ${people} p where p.id = w.id) limit 1`;
    return (await query(statement, [personIds])).length === 0;
  }

  /** @returns the ids of people who became members, and of people who are no longer members */
  async changeMembers(
    { schema, query }: GroupTables,
    id: string,
    { replaces, added, removed }: MemberChange,
  ): Promise<{ gained: string[]; lost: string[] }> {
    const members = `${schema}scim_group_members`;
    const gone = await query(
      `with gone as (
         delete from ${members} m where m.group_id = $1 and case when $2
           then not exists (select from unnest($3::uuid[]) w (id) where w.id = m.person_id)
           else exists (select from unnest($4::uuid[]) w (id) where w.id = m.person_id) end
         returning m.person_id)
       select person_id from gone`,
      [id, replaces, added, removed],
    );
    const come = await query(
      `with come as (
         insert into ${members} (group_id, person_id) select $1, w.id from unnest($2::uuid[]) w (id)
         on conflict do nothing returning person_id)
       select person_id from come`,
      [id, added],
    );
    return { gained: come.map(personOf), lost: gone.map(personOf) };
  }

  /** Whether the group has too many members, or the names of the groups of one of these people are too long. */
  async isTooMuch(
    { schema, query }: GroupTables,
    id: string,
    personIds: readonly string[],
  ): Promise<boolean> {
    const rows = await query(
      `select from ${schema}scim_group_members where group_id = $1 having count(*) > ${MAX_MEMBERS}
       union all
       (select from ${schema}scim_group_members m join ${schema}scim_groups g on g.id = m.group_id
        where m.person_id = any ($2::uuid[]) group by m.person_id
        having octet_length(jsonb_agg(g.display_name)::text) > ${MAX_GROUP_NAMES} limit 1)`,
      [id, personIds],
    );
    return rows.length > 0;
  }
}

function toGroup(row: QueryResultRow): ScimGroup {
  const group = new RecordReader('scim_groups', row);
  return {
    id: group.uuid('id'),
    displayName: group.text('display_name', MAX_NAME),
    externalId: group.textOrNull('external_id', MAX_NAME),
    createdAt: group.date('created_at'),
    updatedAt: group.date('updated_at'),
  };
}

const sizeOf = (row: QueryResultRow): number =>
  new RecordReader('scim_group_members', row).integer('size', 0, Number.MAX_SAFE_INTEGER);

const personOf = (row: QueryResultRow): string =>
  new RecordReader('scim_group_members', row).uuid('person_id');

function grouped<T>(
  rows: readonly QueryResultRow[],
  column: string,
  valueOf: (row: RecordReader) => T,
): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of rows) {
    const row = new RecordReader('scim_group_members', one);
    const key = row.uuid(column);
    const list = found.get(key);
    if (list) list.push(valueOf(row));
    else found.set(key, [valueOf(row)]);
  }
  return found;
}
