/** The columns of a table that the role of a caller may read now, and the policies that apply. */
import type { Caller } from '../access/caller';
import type { ContextSettings } from '../database/rls/rls-context';
import type { RlsTransaction } from '../database/rls/rls-transaction';
import { quoteIdentifier } from '../database/sql/identifier';
import { PUBLICATION } from './feed-slots';

interface ColumnRights {
  readonly name: string;
  /** Supabase's name of the type: `int8`. */
  readonly type: string;
  readonly isJson: boolean;
  readonly isReadable: boolean;
  /** True for columns of the primary key. */
  readonly isKey: boolean;
}

/** Characters of a table's policies, which each batch of changes reads. */
const MAX_POLICIES = 262_144;
export const TOO_LONG = 'too long';

export interface TableRights {
  /** The id of the relation: it may have been dropped and created again. */
  readonly id: number;
  /** A partition, whose table's policies do not apply when it is named directly. */
  readonly isPartition: boolean;
  readonly isReachable: boolean;
  /** Row-level security applies to the caller. */
  readonly isSecured: boolean;
  readonly columns: readonly ColumnRights[];
  readonly policies:
    | readonly { readonly isPermissive: boolean; readonly using: string }[]
    | typeof TOO_LONG
    | null;
}

const RIGHTS = `select c.oid::pg_catalog.int8::pg_catalog.float8 as id, c.relispartition as "isPartition",
    pg_catalog.has_schema_privilege(n.oid, 'usage') as "isReachable",
    pg_catalog.row_security_active(c.oid) as "isSecured",
    (select pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'type', t.typname,
        'isJson', coalesce(nullif(t.typbasetype, 0), t.oid) in (114, 3802),
        'isReadable', pg_catalog.has_column_privilege(c.oid, a.attnum, 'select'),
        'isKey', coalesce(a.attnum = any (i.indkey::pg_catalog.int2[]), false)) order by a.attnum)
      from pg_catalog.pg_attribute a join pg_catalog.pg_type t on t.oid = a.atttypid
        left join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select case when pg_catalog.sum(pg_catalog.length(q.condition)) > ${MAX_POLICIES} then '"${TOO_LONG}"' else
        pg_catalog.json_agg(pg_catalog.json_build_object('isPermissive', p.polpermissive, 'using', q.condition)) end
      from pg_catalog.pg_policy p
        cross join lateral (select pg_catalog.pg_get_expr(p.polqual, p.polrelid) as condition offset 0) q
      where p.polrelid = c.oid and p.polcmd in ('r', '*') and p.polqual is not null
        and (0 = any (p.polroles) or exists (select from pg_catalog.unnest(p.polroles) r (oid)
             where pg_catalog.pg_has_role(r.oid, 'usage')))) as policies
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p')`;

/** @returns null if there is no such table */
export async function readRights(
  door: RlsTransaction,
  caller: Caller,
  schema: string,
  table: string,
): Promise<TableRights | null> {
  const statement = { name: 'changes:rights', text: RIGHTS, values: [schema, table] };
  const { rows } = await door.query(caller, statement, settingsFor(caller, schema));
  return (rows[0] as TableRights | undefined) ?? null;
}

const PUBLISHED = `select from pg_catalog.pg_publication_tables
  where pubname = '${PUBLICATION}' and schemaname = $1 and tablename = $2`;

/** Separate from the rights, because the view reads all publications, which takes longer than everything else. */
export async function isPublished(
  door: RlsTransaction,
  caller: Caller,
  schema: string,
  table: string,
): Promise<boolean> {
  const statement = { name: 'changes:published', text: PUBLISHED, values: [schema, table] };
  return (await door.query(caller, statement, settingsFor(caller, schema))).rowCount > 0;
}

/** A column that a filter reads and the caller may not. A computed field gets the whole row. */
export function hiddenColumn(
  { columns }: TableRights,
  { fields }: { readonly fields: ReadonlySet<string> },
): string | undefined {
  const names = new Set(columns.map(({ name }) => name));
  const readsAll = [...fields].some((field) => !names.has(field));
  return columns.find(({ name, isReadable }) => !isReadable && (readsAll || fields.has(name)))?.name;
}

/** Milliseconds that the policies of a batch may take. */
const CHECK_MS = 5_000;

/** Settings as in a request of table REST: policies are printed and evaluated under the same search_path. */
export function settingsFor({ project }: Caller, schema: string): ContextSettings {
  const path = new Set([schema, ...project.settings.extra_search_path]);
  return {
    search_path: [...path].map(quoteIdentifier).join(', '),
    statement_timeout: String(CHECK_MS),
    transaction_read_only: 'on',
  };
}

/** The condition under which the caller may read a row (manual, 5.9): permissive policies admit it, restrictive ones refuse it. */
export function policySql({ isSecured, policies }: TableRights): string {
  if (!isSecured) return 'true';
  if (policies === TOO_LONG) return 'false';
  const all = policies ?? [];
  const permissive = all.filter(({ isPermissive }) => isPermissive);
  if (permissive.length === 0) return 'false';
  const restrictive = all.filter(({ isPermissive }) => !isPermissive);
  const admitted = permissive.map(({ using }) => `(${using})`).join(' or ');
  return [`(${admitted})`, ...restrictive.map(({ using }) => `(${using})`)].join(' and ');
}
