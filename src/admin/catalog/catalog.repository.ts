/** The tables and views of a project with their columns, keys, indexes and policies, as its owner sees them. */
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectEntity } from '../../projects/project.entity';
import { CatalogObjects } from './catalog-objects';
import { CatalogRelation } from './catalog-records';

const KINDS = `case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end`;

const COLUMNS = `
  select json_agg(json_build_object(
    'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'category', t.typcategory,
    'nullable', not a.attnotnull, 'default', pg_get_expr(d.adbin, d.adrelid),
    'always', a.attidentity = 'a' or a.attgenerated <> '',
    'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = case t.typcategory when 'A' then t.typelem else a.atttypid end),
    'comment', col_description(a.attrelid, a.attnum)
  ) order by a.attnum)
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`;

const namesOf = (keys: string, relation: string): string => `
  (select json_agg(a.attname order by k.position)
   from unnest(${keys}) with ordinality k(number, position)
   join pg_attribute a on a.attrelid = ${relation} and a.attnum = k.number)`;

const FOREIGN_KEYS = `
  select json_agg(json_build_object(
    'name', o.conname, 'schema', fn.nspname, 'table', f.relname,
    'columns', ${namesOf('o.conkey', 'o.conrelid')}, 'targets', ${namesOf('o.confkey', 'o.confrelid')},
    'definition', pg_get_constraintdef(o.oid)
  ) order by o.conname)
  from pg_constraint o join pg_class f on f.oid = o.confrelid join pg_namespace fn on fn.oid = f.relnamespace
  where o.conrelid = c.oid and o.contype = 'f' and o.conparentid = 0`;

const POLICIES = `
  select json_agg(json_build_object(
    'name', p.polname, 'permissive', p.polpermissive,
    'command', case p.polcmd when 'r' then 'SELECT' when 'a' then 'INSERT' when 'w' then 'UPDATE' when 'd' then 'DELETE' else 'ALL' end,
    'roles', (select json_agg(case when r = 0 then 'public' else pg_get_userbyid(r)::text end) from unnest(p.polroles) r),
    'using', pg_get_expr(p.polqual, p.polrelid), 'check', pg_get_expr(p.polwithcheck, p.polrelid)
  ) order by p.polname)
  from pg_policy p where p.polrelid = c.oid`;

/** One row for each table and view that is not PostgreSQL's own. */
const CATALOG = `
select n.nspname as schema, c.relname as name, ${KINDS} as kind, obj_description(c.oid, 'pg_class') as comment,
  c.reltuples::float8 as rows, pg_total_relation_size(c.oid)::float8 as bytes, c.relrowsecurity as rls,
  coalesce((${COLUMNS}), '[]') as columns,
  coalesce((select ${namesOf('i.indkey::int2[]', 'i.indrelid')}
    from pg_index i where i.indrelid = c.oid and i.indisprimary), '[]') as primary_key,
  coalesce((${FOREIGN_KEYS}), '[]') as foreign_keys,
  coalesce((select json_agg(json_build_object('name', x.relname, 'definition', pg_get_indexdef(x.oid),
      'constraint', (select o.conname from pg_constraint o where o.conindid = x.oid and o.conrelid = c.oid and o.contype in ('p', 'u', 'x'))
    ) order by x.relname)
    from pg_index i join pg_class x on x.oid = i.indexrelid where i.indrelid = c.oid), '[]') as indexes,
  coalesce((${POLICIES}), '[]') as policies
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and n.nspname <> 'information_schema' and n.nspname !~ '^pg_'
  and not exists (select from pg_depend e where e.classid = 'pg_class'::regclass and e.objid = c.oid and e.deptype = 'e')
order by 1, 2`;

const isForeign = `n.nspname <> 'information_schema' and n.nspname !~ '^pg_'`;
const notOfExtension = (catalog: string, oid: string): string => `not exists (
  select from pg_depend e where e.classid = '${catalog}'::regclass and e.objid = ${oid} and e.deptype = 'e')`;

const TYPES = `
select n.nspname as schema, t.typname as name,
  case t.typtype when 'e' then 'enum' when 'c' then 'composite' when 'd' then 'domain' else 'range' end as kind,
  coalesce((select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid), '[]') as labels,
  coalesce(case t.typtype
    when 'c' then (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)
      from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
    when 'd' then concat_ws(' ', format_type(t.typbasetype, t.typtypmod), case when t.typnotnull then 'not null' end,
      (select string_agg(pg_get_constraintdef(o.oid), ' ' order by o.conname) from pg_constraint o where o.contypid = t.oid and o.contype = 'c'))
    when 'r' then (select format_type(r.rngsubtype, null) from pg_range r where r.rngtypid = t.oid) end, '') as definition
from pg_type t join pg_namespace n on n.oid = t.typnamespace
where (t.typtype in ('e', 'd', 'r') or exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
  and ${isForeign} and ${notOfExtension('pg_type', 't.oid')}
order by 1, 2`;

const FUNCTIONS = `
select n.nspname as schema, p.proname as name, l.lanname as language, p.prosecdef as definer,
  case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' when 'w' then 'window' else 'function' end as kind,
  pg_get_function_identity_arguments(p.oid) as arguments, pg_get_function_result(p.oid) as returns,
  case p.prokind when 'a' then null else pg_get_functiondef(p.oid) end as definition
from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
where ${isForeign} and ${notOfExtension('pg_proc', 'p.oid')}
order by 1, 2, 6`;

const TRIGGERS = `
select n.nspname as schema, c.relname as table, g.tgname as name, g.tgenabled <> 'D' as enabled, pg_get_triggerdef(g.oid) as definition
from pg_trigger g join pg_class c on c.oid = g.tgrelid join pg_namespace n on n.oid = c.relnamespace
where not g.tgisinternal and ${isForeign} and ${notOfExtension('pg_class', 'c.oid')}
order by 1, 2, 3`;

const VIEWS = `
select n.nspname as schema, c.relname as name, c.relkind = 'm' as materialized, coalesce(to_json(c.reloptions), '[]') as options,
  pg_get_viewdef(c.oid) as definition
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('v', 'm') and ${isForeign} and ${notOfExtension('pg_class', 'c.oid')}
order by 1, 2`;

const EXTENSIONS = `
select a.name, n.nspname as schema, a.installed_version as version, a.default_version as available, coalesce(a.comment, '') as comment
from pg_available_extensions a left join pg_extension e on e.extname = a.name left join pg_namespace n on n.oid = e.extnamespace
order by 1`;

const listOf = (query: string): string => `coalesce((select json_agg(o) from (${query}) o), '[]')`;
const OBJECTS = `
select ${listOf(TYPES)} as types, ${listOf(FUNCTIONS)} as functions, ${listOf(TRIGGERS)} as triggers,
  ${listOf(VIEWS)} as views, ${listOf(EXTENSIONS)} as extensions`;

const TIMEOUT_MS = 30_000;

@Injectable()
export class CatalogRepository {
  constructor(private readonly owner: OwnerDatabase) {}

  /** @throws DatabaseFault if the catalog has more than 16 MiB */
  list(project: ProjectEntity): Promise<CatalogRelation[]> {
    return this.owner.use(
      project,
      'the administrator reads the catalog',
      async (client) => (await client.query<CatalogRelation>(CATALOG)).rows,
      { statement_timeout: TIMEOUT_MS },
    );
  }

  /** @throws DatabaseFault if they have more than 16 MiB */
  async listObjects(project: ProjectEntity): Promise<CatalogObjects> {
    const [objects] = await this.owner.use(
      project,
      'the administrator reads the catalog',
      async (client) => (await client.query<CatalogObjects>(OBJECTS)).rows,
      { statement_timeout: TIMEOUT_MS },
    );
    return objects!;
  }
}
