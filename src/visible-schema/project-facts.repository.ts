/**
 * Reads the parts of a project's schemas that a role may see: privileges, and facts that table REST's catalog lacks
 * (comments, defaults, labels). One round trip; pg_catalog is readable for every role, so the role is a parameter.
 */
import { Injectable } from '@nestjs/common';
import type { ProjectDatabase } from '../database/pools/project-database';
import { RlsTransaction } from '../database/rls/rls-transaction';
import type { ProjectFacts, RelationFacts, RoutineFacts, TypeFacts } from './project-facts';

const REASON = 'the schema itself is read, not data';

/** Maximum number of bytes of all rows together. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum number of characters of a comment. */
const MAX_COMMENT = 10_000;

// Generators write comments into block comments of code. An asterisk and a slash would end them, and code could follow.
const commentText = (sql: string): string => `left(replace(${sql}, '*/', '* /'), ${MAX_COMMENT})`;

/** Maximum number of bytes of a default as PostgreSQL stores it; longer defaults are left out. */
const MAX_DEFAULT = 65_536;

/** With an empty search_path, format_type() qualifies every name that is not built in, as in the catalog. */
const QUALIFY_NAMES = `select set_config('search_path', '', true)`;

/** Parameters of all queries: the role, the exposed schemas. */
const RELATIONS = `
  select n.nspname as schema, c.relname as name, ${commentText("obj_description(c.oid, 'pg_class')")} as comment,
    has_table_privilege($1::name, c.oid, 'DELETE') as may_delete,
    (select json_agg(json_build_array(
        a.attname,
        has_column_privilege($1::name, c.oid, a.attnum, 'SELECT')::int
          + 2 * has_column_privilege($1::name, c.oid, a.attnum, 'INSERT')::int
          + 4 * has_column_privilege($1::name, c.oid, a.attnum, 'UPDATE')::int,
        a.attidentity = 'a' or a.attgenerated <> '',
        case when a.attgenerated = '' and octet_length(d.adbin::text) <= ${MAX_DEFAULT} then pg_get_expr(d.adbin, d.adrelid) end,
        ${commentText('col_description(c.oid, a.attnum)')}
      ) order by a.attnum)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($2::text[]) and c.relkind in ('r', 'v', 'm', 'f', 'p')
    and has_schema_privilege($1::name, n.oid, 'USAGE')
    and (has_table_privilege($1::name, c.oid, 'DELETE')
      or has_any_column_privilege($1::name, c.oid, 'SELECT, INSERT, UPDATE'))`;

const ROUTINES = `
  select n.nspname as schema, p.proname as name,
    (select coalesce(json_agg(format_type(u.type, null) order by u.position), '[]')
      from unnest(p.proargtypes) with ordinality u(type, position)) as types,
    format_type(p.prorettype, null) as result, p.proretset as returns_set, ${commentText("obj_description(p.oid, 'pg_proc')")} as comment
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where p.prokind = 'f' and n.nspname = any($2::text[])
    and has_schema_privilege($1::name, n.oid, 'USAGE') and has_function_privilege($1::name, p.oid, 'EXECUTE')`;

/** Row types only of relations that may be documented themselves. */
const TYPES = `
  select format_type(t.oid, null) as name, n.nspname as schema, t.typname as type_name, t.typtype as kind,
    has_type_privilege($1::name, t.oid, 'USAGE') and has_schema_privilege($1::name, n.oid, 'USAGE') as usable,
    case when t.typtype = 'd' then format_type(t.typbasetype, t.typtypmod) end as base,
    (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as labels,
    case when c.relkind = 'c' then
      (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) order by a.attnum)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) end as attributes,
    ${commentText("obj_description(t.oid, 'pg_type')")} as comment
  from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
  where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and (t.typtype in ('e', 'd', 'r', 'm') or t.typtype = 'b' and t.typcategory <> 'A'
      or t.typtype = 'c' and (c.relkind = 'c' or n.nspname = any($2::text[])))`;

@Injectable()
export class ProjectFactsRepository {
  constructor(private readonly door: RlsTransaction) {}

  async read(database: ProjectDatabase, role: string, schemas: readonly string[]): Promise<ProjectFacts> {
    const values = [role, schemas];
    const results = await this.door.systemSnapshot(database, REASON, [
      { text: QUALIFY_NAMES },
      ...[RELATIONS, ROUTINES, TYPES].map((text) => ({ text, values, maxBytes: MAX_BYTES })),
    ]);
    const rows = <Row>(index: number): Row[] => (results[index]?.rows ?? []) as Row[];
    return {
      relations: rows<RelationFacts>(1),
      routines: rows<RoutineFacts>(2),
      types: rows<TypeFacts>(3),
    };
  }
}
