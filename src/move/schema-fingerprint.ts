/**
 * A value that changes with the definition of any object in a database: each row of the system catalogs has a
 * transaction id and a location, and DDL writes new rows. Temporary tables change it, too.
 */
import type { Client } from 'pg';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';

/** Catalogs of this database. Statistics and the content of large objects are not definitions. */
const CATALOGS = `select c.relname::text as name from pg_catalog.pg_class c
  where c.relnamespace = 'pg_catalog'::pg_catalog.regnamespace and c.relkind = 'r' and not c.relisshared
    and c.relname not in ('pg_statistic', 'pg_statistic_ext_data', 'pg_largeobject')
    and pg_catalog.has_table_privilege(c.oid, 'SELECT')
  order by 1`;

/** TRUNCATE and REFRESH MATERIALIZED VIEW write new rows of pg_class, too, so here the definitions are compared. */
const CLASS_COLUMNS = `oid, relname, relnamespace, reloftype, relowner, relam, reltablespace, relpersistence, relkind, relnatts,
  relchecks, relhasrules, relhastriggers, relrowsecurity, relforcerowsecurity, relispopulated, relreplident, relispartition,
  relacl, reloptions, relpartbound`;

const sumOf = (name: string): string => {
  const [columns, rows] =
    name === 'pg_class' ? [CLASS_COLUMNS, `where relpersistence <> 't'`] : ['ctid, xmin', ''];
  return `select pg_catalog.concat_ws(' ', ${quoteLiteral(name)}, pg_catalog.count(*), pg_catalog.sum(pg_catalog.hashtextextended(
     pg_catalog.concat_ws(' ', ${columns}), 0))) as line from pg_catalog.${quoteIdentifier(name)} ${rows}`;
};

/** @param client with an empty search_path */
export async function schemaFingerprint(client: BoundedClient): Promise<string> {
  const { rows: catalogs } = await client.query<{ name: string }>(CATALOGS);
  const sums = catalogs.map(({ name }) => sumOf(name)).join(' union all ');
  const { rows } = await client.query<{ value: string }>(
    `select pg_catalog.md5(pg_catalog.string_agg(s.line, ',' order by s.line)) as value from (${sums}) s`,
  );
  return rows[0]?.value ?? '';
}

/**
 * Like schemaFingerprint(), for the content of large objects, which cannot be locked: even reading them takes a lock for writing.
 * @param client connected as a superuser in the project's database; names are qualified, so no code of the owner runs
 */
export async function largeObjectFingerprint(client: Client): Promise<string> {
  await client.query(`set search_path = ''`);
  const { rows } = await client.query<{ line: string }>(sumOf('pg_largeobject'));
  return rows[0]?.line ?? '';
}
