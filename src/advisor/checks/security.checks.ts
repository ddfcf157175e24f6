/** Checks for data that is more accessible than its owner may have intended. */
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { AdviceCheck, LIMIT, OWN_SCHEMAS } from '../advice-check';

interface TableRow {
  readonly schema: string;
  readonly name: string;
}

export const RLS_OFF: AdviceCheck<TableRow & { readonly open: boolean }> = {
  name: 'rls_off',
  text: `select * from (
      select n.nspname as schema, c.relname as name,
        exists (select from unnest(array['anon', 'authenticated']) role
          where has_schema_privilege(role, n.oid, 'USAGE')
            and has_table_privilege(role, c.oid, 'SELECT, INSERT, UPDATE, DELETE')) as open
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relrowsecurity and (${OWN_SCHEMAS} or n.nspname = 'storage')) t
    order by open desc, schema, name ${LIMIT}`,
  toFinding: ({ schema, name, open }) => ({
    severity: open ? 'critical' : 'info',
    names: [schema, name],
    reason: open ? 'rls_off_open' : 'rls_off',
    sql: `alter table ${quoteQualified(schema, name)} enable row level security;`,
  }),
};

interface PolicyRow extends TableRow {
  readonly policy: string;
}

export const POLICY_TRUE: AdviceCheck<PolicyRow & { readonly writes: boolean; readonly command: string }> = {
  name: 'policy_true',
  text: `select * from (
      select n.nspname as schema, c.relname as name, p.polname as policy, p.polcmd <> 'r' as writes,
        case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete'
          else 'all' end as command
      from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
      where p.polpermissive and ${OWN_SCHEMAS}
        and p.polroles && array[0, (select r.oid from pg_roles r where r.rolname = 'anon')]::oid[]
        and coalesce(pg_get_expr(p.polqual, p.polrelid), 'true') = 'true'
        and coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true'
        and has_schema_privilege('anon', n.oid, 'USAGE')
        and has_table_privilege('anon', c.oid, case p.polcmd when 'r' then 'SELECT' when 'a' then 'INSERT'
          when 'w' then 'UPDATE' when 'd' then 'DELETE' else 'SELECT, INSERT, UPDATE, DELETE' end)) t
    order by writes desc, schema, name, policy ${LIMIT}`,
  toFinding: ({ schema, name, policy, writes, command }) => ({
    severity: writes ? 'critical' : 'info',
    names: [schema, name, policy],
    reason: writes ? 'policy_true_writes' : 'policy_true',
    ...(writes ? { values: { command } } : {}),
    sql: `alter policy ${quoteIdentifier(policy)} on ${quoteQualified(schema, name)} to authenticated;`,
  }),
};

export const DEFINER_VIEW: AdviceCheck<TableRow> = {
  name: 'definer_view',
  text: `select n.nspname as schema, c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'v' and ${OWN_SCHEMAS} and current_setting('server_version_num')::int >= 150000
      and not coalesce(c.reloptions::text[] && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1',
        'security_invoker=yes', 'security_invoker=t', 'security_invoker=y'], false)
      and exists (select from unnest(array['anon', 'authenticated']) role
        where has_schema_privilege(role, n.oid, 'USAGE') and has_table_privilege(role, c.oid, 'SELECT'))
      and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order by 1, 2 ${LIMIT}`,
  toFinding: ({ schema, name }) => ({
    severity: 'warning',
    names: [schema, name],
    reason: 'definer_view',
    sql: `alter view ${quoteQualified(schema, name)} set (security_invoker = true);`,
  }),
};

interface FunctionRow extends TableRow {
  /** As pg_get_function_identity_arguments() prints them, with quoted names. */
  readonly arguments: string;
}

export const DEFINER_FUNCTION: AdviceCheck<FunctionRow> = {
  name: 'definer_function',
  text: `select n.nspname as schema, p.proname as name, left(pg_get_function_identity_arguments(p.oid), 4000) as arguments
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where p.prosecdef and p.prokind in ('f', 'p') and ${OWN_SCHEMAS}
      and not exists (select from unnest(p.proconfig) setting where setting ~ '^search_path=')
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    order by 1, 2, 3 ${LIMIT}`,
  toFinding: ({ schema, name, arguments: parameters }) => ({
    severity: 'warning',
    names: [schema, name, parameters],
    reason: 'definer_function',
    sql:
      parameters.length < 4000
        ? `alter routine ${quoteQualified(schema, name)}(${parameters}) set search_path = ${quoteIdentifier(schema)}, pg_temp;`
        : null,
  }),
};
