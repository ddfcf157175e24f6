/** The tables and views of a project with their columns, keys, indexes and policies, as its owner sees them. */
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectEntity } from '../../projects/project.entity';
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
    'columns', ${namesOf('o.conkey', 'o.conrelid')}, 'targets', ${namesOf('o.confkey', 'o.confrelid')}
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
}
