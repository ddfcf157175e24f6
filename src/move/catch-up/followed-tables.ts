/**
 * The tables of a project whose changes logical replication can follow, and those that are copied during the stop of
 * writes: without a key, rows cannot be identified, and unlogged tables are not in the write-ahead log.
 */
import type { BoundedClient } from '../../database/pools/one-off-connection';
import type { LockedTable } from '../write-stop-sessions';

export interface FollowedTable extends LockedTable {
  readonly id: string;
  /** Columns in the order of the table, without generated columns. */
  readonly columns: string[];
  /** Columns of the primary key, or of the index that is the replica identity. The operator compares a column with a value. */
  readonly keys: readonly { readonly name: string; readonly operator: string }[];
  /** Columns that are GENERATED ALWAYS AS IDENTITY. */
  readonly generated: string[];
}

export interface TableFacts extends FollowedTable {
  readonly isFollowed: boolean;
  /** Bytes of the table with its indexes. */
  readonly bytes: number;
  /** Whether row-level security applies to the owner. */
  readonly isForced: boolean;
  /** Whether the table has a trigger or a rule that also runs for replicated changes. */
  readonly firesAlways: boolean;
}

/** Excludes tables of the system, of Plinth's event triggers and of extensions, as a backup does. */
const COPIED = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'plinth') and c.relpersistence <> 't'
  and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
                  and d.objid = c.oid and d.deptype = 'e')`;

/** An index whose key PostgreSQL logs and whose columns are all sent. Deferrable indexes do not qualify. */
const IDENTITY = `select i.* from pg_catalog.pg_index i
  where i.indrelid = c.oid and i.indisvalid and i.indimmediate
    and case c.relreplident when 'i' then i.indisreplident when 'n' then false else i.indisprimary end
    and not exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attgenerated <> ''
                    and a.attnum = any (i.indkey::pg_catalog.int2[]))`;

/** The equality operator of the index, which an empty search_path would not find. */
const KEYS = `select pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'operator',
    pg_catalog.format('operator(%I.%s)', o_n.nspname, o.oprname)) order by k.place)
  from pg_catalog.generate_series(0, identity.indnkeyatts - 1) k (place)
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = identity.indkey[k.place]
    join pg_catalog.pg_opclass oc on oc.oid = identity.indclass[k.place]
    join pg_catalog.pg_amop ao on ao.amopfamily = oc.opcfamily and ao.amoplefttype = oc.opcintype
      and ao.amoprighttype = oc.opcintype and ao.amopstrategy = 3
    join pg_catalog.pg_operator o on o.oid = ao.amopopr
    join pg_catalog.pg_namespace o_n on o_n.oid = o.oprnamespace`;

const TABLES = `
  select c.oid::text as id, n.nspname as schema, c.relname as name,
    pg_catalog.pg_total_relation_size(c.oid)::float8 as bytes,
    array(select a.attname::text from pg_catalog.pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
          order by a.attnum) as columns,
    array(select a.attname::text from pg_catalog.pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attidentity = 'a') as generated,
    coalesce((${KEYS}), '[]') as keys,
    c.relpersistence = 'p' and identity.indexrelid is not null
      and not exists (select from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attidentity = 'a'
                      and a.attnum <> all (identity.indkey::pg_catalog.int2[])) as "isFollowed",
    c.relforcerowsecurity as "isForced",
    exists (select from pg_catalog.pg_trigger t where t.tgrelid = c.oid and t.tgenabled in ('A', 'R'))
      or exists (select from pg_catalog.pg_rewrite r where r.ev_class = c.oid and r.ev_enabled in ('A', 'R')
                 and r.rulename <> '_RETURN') as "firesAlways"
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    left join lateral (${IDENTITY}) identity on true
  where c.relkind = 'r' and ${COPIED}
  order by 2, 3`;

const VIEWS = `select n.nspname as schema, c.relname as name
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'm' and c.relispopulated and ${COPIED} order by c.oid`;

/** @param client connected as the owner on the source */
export async function readTables(client: BoundedClient): Promise<TableFacts[]> {
  return (await client.query<TableFacts>(TABLES)).rows;
}

/** Materialized views with content, each after the views that it reads from. */
export async function readMaterializedViews(client: BoundedClient): Promise<LockedTable[]> {
  return (await client.query<LockedTable>(VIEWS)).rows;
}
