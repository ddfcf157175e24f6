/** Checks for objects that slow a project down or will make its writes fail. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { AdviceCheck, LIMIT, OWN_SCHEMAS } from '../advice-check';

/** Rows above which a missing index slows queries noticeably. */
const LARGE_TABLE = 1_000;
/** Bytes above which an index is reported. */
const LARGE_INDEX = 128 * 1024;
const MANY_DEAD = 10_000;

interface ColumnsRow {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly partitioned: boolean;
}

/** An index of these columns. `concurrently` blocks no writes; partitioned tables do not allow it. */
function createIndex({ schema, name, columns, partitioned }: ColumnsRow): string {
  const list = columns.map(quoteIdentifier).join(', ');
  return `create index ${partitioned ? '' : 'concurrently '}on ${quoteQualified(schema, name)} (${list});`;
}

/** True when an index of the table begins with the columns `keys`, in any order. */
const isIndexed = (table: string, keys: string): string => `exists (select from pg_index i
  where i.indrelid = ${table} and i.indisvalid and i.indpred is null and i.indnkeyatts >= cardinality(${keys})
    and (select array_agg(k order by k) from unnest((i.indkey::int2[])[0:cardinality(${keys}) - 1]) k)
      = (select array_agg(k order by k) from unnest(${keys}) k))`;

export const FOREIGN_KEY: AdviceCheck<ColumnsRow & { readonly constraint: string }> = {
  name: 'foreign_key_without_index',
  text: `select n.nspname as schema, c.relname as name, o.conname as constraint, c.relkind = 'p' as partitioned,
      array(select a.attname::text from unnest(o.conkey) with ordinality k (number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number order by k.place) as columns
    from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_namespace n on n.oid = c.relnamespace
    where o.contype = 'f' and o.conparentid = 0 and ${OWN_SCHEMAS} and not ${isIndexed('c.oid', 'o.conkey')}
    order by c.reltuples desc, 1, 2, 3 ${LIMIT}`,
  toFinding: (row) => ({
    severity: 'warning',
    names: [row.schema, row.name, row.constraint],
    reason: 'foreign_key_without_index',
    sql: createIndex(row),
  }),
};

export const POLICY_COLUMN: AdviceCheck<ColumnsRow & { readonly policy: string }> = {
  name: 'policy_column_without_index',
  text: `select n.nspname as schema, c.relname as name, min(p.polname::text) as policy, c.relkind = 'p' as partitioned,
      array[a.attname::text] as columns
    from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
      join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = p.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid = c.oid and d.refobjsubid > 0
      join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid and a.atttypid <> 'boolean'::regtype
    where ${OWN_SCHEMAS} and c.reltuples >= ${LARGE_TABLE} and not ${isIndexed('c.oid', 'array[a.attnum]')}
    group by 1, 2, 4, a.attname, c.reltuples order by c.reltuples desc, 1, 2, 5 ${LIMIT}`,
  toFinding: (row) => ({
    severity: 'warning',
    names: [row.schema, row.name, ...row.columns],
    reason: 'policy_column_without_index',
    values: { policy: JSON.stringify(row.policy) },
    sql: createIndex(row),
  }),
};

interface BareCallRow {
  readonly schema: string;
  readonly name: string;
  readonly policy: string;
  readonly using: string | null;
  readonly check: string | null;
}

/** Longer expressions are not rewritten. */
const MAX_EXPRESSION = 4_000;
const CALL = String.raw`\mauth\.(uid|role|email|jwt)\(\)`;
const isBare = (expression: string): string =>
  String.raw`regexp_replace(${expression}, 'SELECT \(*auth\.(uid|role|email|jwt)\(\)', '', 'g') ~ '${CALL}'`;

export const BARE_AUTH_CALL: AdviceCheck<BareCallRow> = {
  name: 'policy_call_per_row',
  text: `select schema, name, policy, left("using", ${MAX_EXPRESSION + 1}) as "using", left("check", ${MAX_EXPRESSION + 1}) as "check"
    from (select n.nspname as schema, c.relname as name, p.polname as policy, c.reltuples,
        pg_get_expr(p.polqual, p.polrelid) as "using", pg_get_expr(p.polwithcheck, p.polrelid) as "check"
      from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
      where ${OWN_SCHEMAS}) policies
    where ${isBare('"using"')} or ${isBare('"check"')}
    order by reltuples desc, 1, 2, 3 ${LIMIT}`,
  toFinding: (row) => ({
    severity: 'info',
    names: [row.schema, row.name, row.policy],
    reason: 'policy_call_per_row',
    sql: wrappedPolicy(row),
  }),
};

/** Null where a replacement could change a literal, or the expression is too long. */
function wrappedPolicy({ schema, name, policy, using, check }: BareCallRow): string | null {
  const [newUsing, newCheck] = [wrapped(using), wrapped(check)];
  if (newUsing === undefined || newCheck === undefined) return null;
  const clauses = [
    ...(newUsing === null ? [] : [` using (${newUsing})`]),
    ...(newCheck === null ? [] : [` with check (${newCheck})`]),
  ];
  return `alter policy ${quoteIdentifier(policy)} on ${quoteQualified(schema, name)}${clauses.join('')};`;
}

function wrapped(expression: string | null): string | null | undefined {
  if (expression === null) return null;
  const literals = expression.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"/g) ?? [];
  if (expression.length > MAX_EXPRESSION || literals.some((text) => text.includes('auth.'))) return undefined;
  return expression.replace(/(SELECT \(*)?\bauth\.(uid|role|email|jwt)\(\)/g, (call, select?: string) =>
    select === undefined ? `(select ${call})` : call,
  );
}

interface IndexRow {
  readonly schema: string;
  readonly name: string;
  readonly table: string;
  readonly other: string;
  readonly megabytes: number;
}

const MEGABYTES = `round(pg_relation_size(i.indexrelid) / 1048576.0, 1)::float8 as megabytes`;
const INDEXES = `pg_index i join pg_class x on x.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
  join pg_namespace n on n.oid = x.relnamespace`;
/** The index of a constraint can only be dropped with it. */
const NO_CONSTRAINT = `not exists (select from pg_constraint o where o.conindid = i.indexrelid)`;
const dropIndex = ({ schema, name }: IndexRow): string =>
  `drop index concurrently ${quoteQualified(schema, name)};`;

export const DUPLICATE_INDEX: AdviceCheck<IndexRow> = {
  name: 'duplicate_index',
  text: `select n.nspname as schema, x.relname as name, t.relname as table, min(y.relname::text) as other, ${MEGABYTES}
    from ${INDEXES} join pg_index j on j.indrelid = i.indrelid and j.indexrelid <> i.indexrelid
        and j.indkey = i.indkey and j.indclass = i.indclass and j.indcollation = i.indcollation
        and j.indoption = i.indoption and j.indnkeyatts = i.indnkeyatts
        and coalesce(pg_get_expr(j.indexprs, j.indrelid), '') = coalesce(pg_get_expr(i.indexprs, i.indrelid), '')
        and coalesce(pg_get_expr(j.indpred, j.indrelid), '') = coalesce(pg_get_expr(i.indpred, i.indrelid), '')
      join pg_class y on y.oid = j.indexrelid and y.relam = x.relam
    where ${OWN_SCHEMAS} and ${NO_CONSTRAINT} and x.relkind = 'i' and j.indisvalid and not x.relispartition
      and (not i.indisunique or j.indisunique)
      -- Of two that are alike, the younger one, unless only the other one belongs to a constraint.
      and (i.indexrelid > j.indexrelid or j.indisunique and not i.indisunique
        or exists (select from pg_constraint o where o.conindid = j.indexrelid))
    group by 1, 2, 3, i.indexrelid order by pg_relation_size(i.indexrelid) desc, 1, 2 ${LIMIT}`,
  toFinding: (row) => ({
    severity: 'warning',
    names: [row.schema, row.table, row.name],
    reason: 'duplicate_index',
    values: { other: JSON.stringify(row.other), megabytes: row.megabytes },
    sql: dropIndex(row),
  }),
};

export const UNUSED_INDEX: AdviceCheck<IndexRow & { readonly since: string | null }> = {
  name: 'unused_index',
  text: `select n.nspname as schema, x.relname as name, t.relname as table, '' as other, ${MEGABYTES},
      (select to_char(d.stats_reset at time zone 'UTC', 'YYYY-MM-DD') from pg_stat_database d
        where d.datname = current_database()) as since
    from ${INDEXES} join pg_stat_user_indexes s on s.indexrelid = i.indexrelid
    where ${OWN_SCHEMAS} and ${NO_CONSTRAINT} and not i.indisunique and s.idx_scan = 0 and x.relkind = 'i'
      and not x.relispartition and pg_relation_size(i.indexrelid) >= ${LARGE_INDEX}
    order by pg_relation_size(i.indexrelid) desc, 1, 2 ${LIMIT}`,
  toFinding: (row) => ({
    severity: 'info',
    names: [row.schema, row.table, row.name],
    reason: row.since === null ? 'unused_index' : 'unused_index_since',
    values: { megabytes: row.megabytes, ...(row.since === null ? {} : { since: row.since }) },
    sql: dropIndex(row),
  }),
};

export const BLOAT: AdviceCheck<{
  readonly schema: string;
  readonly name: string;
  readonly percent: number;
  readonly dead: number;
}> = {
  name: 'bloat',
  text: `select s.schemaname as schema, s.relname as name, s.n_dead_tup::float8 as dead,
      round(100.0 * s.n_dead_tup / (s.n_live_tup + s.n_dead_tup))::float8 as percent
    from pg_stat_user_tables s join pg_namespace n on n.nspname = s.schemaname
    where (${OWN_SCHEMAS} or n.nspname in ('auth', 'storage')) and s.n_dead_tup >= ${MANY_DEAD}
      and s.n_dead_tup >= 0.3 * (s.n_live_tup + s.n_dead_tup)
    order by s.n_dead_tup desc, 1, 2 ${LIMIT}`,
  toFinding: ({ schema, name, percent, dead }) => ({
    severity: 'warning',
    names: [schema, name],
    reason: 'bloat',
    values: { percent, dead },
    sql: `vacuum (analyze) ${quoteQualified(schema, name)};`,
  }),
};

interface SequenceRow {
  readonly schema: string;
  readonly name: string;
  readonly percent: number;
  /** Schema of the column that owns it. */
  readonly table_schema: string | null;
  readonly table: string | null;
  readonly column: string | null;
}

const MAXIMUM = `least(q.seqmax, case a.atttypid when 'smallint'::regtype then 32767
  when 'integer'::regtype then 2147483647 else q.seqmax end)`;

export const SEQUENCE_END: AdviceCheck<SequenceRow> = {
  name: 'sequence_near_end',
  text: `select * from (
      select n.nspname as schema, c.relname as name, m.nspname as table_schema, t.relname as table, a.attname as column,
        round(100.0 * pg_sequence_last_value(c.oid) / ${MAXIMUM}, 1)::float8 as percent
      from pg_sequence q join pg_class c on c.oid = q.seqrelid join pg_namespace n on n.oid = c.relnamespace
        left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
          and d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0
        left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        left join pg_class t on t.oid = d.refobjid left join pg_namespace m on m.oid = t.relnamespace
      where ${OWN_SCHEMAS} and q.seqincrement > 0 and not q.seqcycle and q.seqmax > 0) s
    where percent >= 80 order by percent desc, schema, name ${LIMIT}`,
  toFinding: ({ schema, name, percent, table_schema: tableSchema, table, column }) => ({
    severity: percent >= 95 ? 'critical' : 'warning',
    names: [schema, name],
    reason: 'sequence_near_end',
    values: { percent },
    sql: [
      `alter sequence ${quoteQualified(schema, name)} as bigint;`,
      ...(tableSchema !== null && table !== null && column !== null
        ? [
            `alter table ${quoteQualified(tableSchema, table)} alter column ${quoteIdentifier(column)} type bigint;`,
          ]
        : []),
    ].join('\n'),
  }),
};
