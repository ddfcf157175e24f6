/** Reads a project's database as its owner, in one read-only transaction whose snapshot pg_dump shares. */
import { QueryResultRow } from 'pg';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { quoteIdentifier, quoteLiteral, quoteQualified } from '../../database/sql/identifier';
import {
  ArchivedDatabaseSetting,
  ArchivedExtension,
  ArchivedSequence,
  ArchivedTable,
  tableName,
} from '../archived-objects';
import { notSupported } from '../copies.errors';
import { CopyOut } from '../copy/copy-out';
import type { SnapshotLimits } from './snapshot-limits';

/**
 * Values that COPY prints and reads depend on these settings, which an owner may change. The values are those of pg_dump.
 * transaction_timeout exists from PostgreSQL 17 on.
 */
export const TEXT_FORMAT = `
  set datestyle = 'ISO'; set intervalstyle = 'postgres'; set extra_float_digits = 3; set bytea_output = 'hex';
  set xmloption = content; set standard_conforming_strings = on; set client_encoding = 'UTF8';
  set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0;
  select pg_catalog.set_config(name, '0', false) from pg_catalog.pg_settings where name = 'transaction_timeout';
  select pg_catalog.set_config('search_path', '', false);`;

/** Sequences that one query reads. */
const SEQUENCES_PER_QUERY = 200;

/** SQL: a schema that is neither temporary nor PostgreSQL's own, nor the schema of Plinth's event triggers. */
const IN_SCHEMA = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'plinth')`;
const OF_EXTENSION = `exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_class'::regclass
  and d.objid = c.oid and d.deptype = 'e')`;

const TABLES = `
  select n.nspname as schema, c.relname as name, c.relforcerowsecurity as is_forced,
    pg_catalog.has_table_privilege('service_role', c.oid, 'SELECT') as is_for_service,
    array(select a.attname::text from pg_catalog.pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          order by a.attnum) as columns
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and c.relpersistence <> 't' and ${IN_SCHEMA} and not ${OF_EXTENSION}
  order by 1, 2`;

const SEQUENCES = `
  select n.nspname as schema, c.relname as name
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'S' and c.relpersistence <> 't' and ${IN_SCHEMA} and not ${OF_EXTENSION}
  order by 1, 2`;

const EXTENSIONS = `
  select e.extname as name, n.nspname as schema, e.extversion as version,
    pg_catalog.pg_get_userbyid(e.extowner) = current_user as by_owner
  from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
  where e.extname <> 'plpgsql' order by 1`;

/**
 * Settings of this database, of its owner, and of the roles that the owner administers. Plinth recreates its own. Settings of
 * other roles, such as anon, may be another owner's, and the owner could not make them again.
 */
const SETTINGS = `
  select r.rolname as role, d.setdatabase <> 0 as in_database,
    pg_catalog.split_part(s.setting, '=', 1) as name,
    pg_catalog.substr(s.setting, pg_catalog.strpos(s.setting, '=') + 1) as value
  from pg_catalog.pg_db_role_setting d left join pg_catalog.pg_roles r on r.oid = d.setrole,
    pg_catalog.unnest(d.setconfig) with ordinality s(setting, position)
  where d.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database()))
    and (d.setrole = 0 or r.rolname = current_user
      or pg_catalog.pg_has_role(d.setrole, 'MEMBER WITH ADMIN OPTION'))
    and s.setting !~~ 'plinth.%'
  order by 2, 1 nulls first, s.position`;

/** Roles that privileges and policies of this database name, except predefined roles. */
const NAMED_ROLES = `
  select distinct r.rolname as name
  from pg_catalog.pg_shdepend d join pg_catalog.pg_roles r on r.oid = d.refobjid
  where d.refclassid = 'pg_catalog.pg_authid'::regclass and d.deptype in ('a', 'r')
    and d.dbid = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database()) order by 1`;

interface FoundTable {
  readonly schema: string;
  readonly name: string;
  readonly is_forced: boolean;
  readonly is_for_service: boolean;
  readonly columns: string[];
}

export interface SnapshotTable extends ArchivedTable {
  /** Row-level security applies to the owner, so service_role reads the table. */
  readonly isForced: boolean;
}

export class SnapshotRepository {
  private constructor(
    private readonly client: BoundedClient,
    private readonly limits: SnapshotLimits,
    /** For pg_dump's option --snapshot. */
    readonly id: string,
    /** Version of the server, as in server_version_num. */
    readonly serverVersion: number,
  ) {}

  /**
   * The transaction lasts until the client disconnects.
   * @param exported the snapshot of another session, to use instead of a new one
   */
  static async begin(
    client: BoundedClient,
    limits: SnapshotLimits,
    exported?: string,
  ): Promise<SnapshotRepository> {
    await client.query('begin isolation level repeatable read, read only');
    // Must precede any other statement (manual, SET TRANSACTION).
    if (exported !== undefined) await client.query(`set transaction snapshot ${quoteLiteral(exported)}`);
    await client.query(TEXT_FORMAT);
    // Raises an error instead of an incomplete backup where row-level security applies to the owner.
    await client.query('set row_security = off');
    const { rows } = await client.query<{ id: string; version: number }>(
      `select pg_catalog.pg_export_snapshot() as id, pg_catalog.current_setting('server_version_num')::int as version`,
    );
    const [row] = rows;
    if (!row) throw new Error('no snapshot was exported');
    return new SnapshotRepository(client, limits, row.id, row.version);
  }

  /** @throws AppError 400 when neither the owner nor service_role may read all rows of a table */
  async tables(): Promise<SnapshotTable[]> {
    const found = await this.list<FoundTable>(TABLES);
    return found.map(
      ({ schema, name, columns, is_forced: isForced, is_for_service: isForService }, index) => {
        if (isForced && !isForService)
          throw notSupported(
            `Row-level security is forced on ${schema}.${name}: grant SELECT on it to service_role, which may read all its rows`,
          );
        return { member: tableName(index), schema, name, columns, isForced };
      },
    );
  }

  extensions(): Promise<ArchivedExtension[]> {
    return this.list<ArchivedExtension>(EXTENSIONS);
  }

  /** Settings of ALTER DATABASE and ALTER ROLE. */
  settings(): Promise<ArchivedDatabaseSetting[]> {
    return this.list<ArchivedDatabaseSetting>(SETTINGS);
  }

  async namedRoles(): Promise<string[]> {
    return (await this.list<{ name: string }>(NAMED_ROLES)).map(({ name }) => name);
  }

  /** Read after the snapshot was taken: sequences are not transactional, and their values only have to be high enough. */
  async sequences(): Promise<ArchivedSequence[]> {
    const found = await this.list<{ schema: string; name: string }>(SEQUENCES);
    const values: ArchivedSequence[] = [];
    for (let at = 0; at < found.length; at += SEQUENCES_PER_QUERY) {
      const batch = found.slice(at, at + SEQUENCES_PER_QUERY);
      const rows = await this.list<{ last_value: string; is_called: boolean }>(
        batch
          .map(
            ({ schema, name }) => `(select last_value::text, is_called from ${quoteQualified(schema, name)})`,
          )
          .join(' union all '),
      );
      batch.forEach(({ schema, name }, index) => {
        const row = rows[index];
        if (row) values.push({ schema, name, last_value: row.last_value, is_called: row.is_called });
      });
    }
    return values;
  }

  /** The rows in COPY's text format. */
  rowsOf({ schema, name, columns, isForced }: SnapshotTable): {
    chunks: AsyncIterable<Buffer>;
    rows(): number;
  } {
    const list = columns.length === 0 ? '' : `(${columns.map(quoteIdentifier).join(', ')})`;
    const stream = new CopyOut(`copy ${quoteQualified(schema, name)} ${list} to stdout`);
    return { chunks: this.copy(stream, isForced), rows: () => stream.rowCount };
  }

  /** Object id, size and SHA-256 of each file, in COPY's text format. @param isForced as SnapshotTable.isForced */
  files(isForced: boolean): AsyncIterable<Buffer> {
    const query = 'select distinct object_id, size, sha256 from storage.files';
    return this.copy(new CopyOut(`copy (${query}) to stdout`), isForced);
  }

  /** The objects of the list that rows of storage.files refer to. */
  async namedObjects(objectIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.list<{ id: string }>(
      'select distinct object_id::text as id from storage.files where object_id = any ($1::uuid[])',
      [objectIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  async countFiles(): Promise<number> {
    const [row] = await this.list<{ count: string }>('select count(*)::text as count from storage.files');
    return Number(row?.count ?? 0);
  }

  private async *copy(stream: CopyOut, isForced: boolean): AsyncGenerator<Buffer> {
    if (isForced) await this.client.query('set local role service_role');
    yield* this.client.query(stream) as AsyncIterable<Buffer>;
    // Also waits for the end of the COPY, which comes with the number of rows.
    await this.client.query('set local role none');
  }

  private async list<T extends QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> {
    this.limits.begin();
    return (await this.client.query<T>(sql, values)).rows;
  }
}
