/** The tables and columns of a project that its service role may read today. */
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../../projects/owner-database';
import { OWNER_WORK_OPTIONS } from '../../database/pools/session-state';
import type { ProjectEntity } from '../../projects/project.entity';

export interface ReadableTable {
  readonly schema: string;
  readonly name: string;
  /** In the order of the table. */
  readonly columns: readonly string[];
}

/** Schemas whose tables Plinth makes have secrets, such as hashed passwords and tokens. */
const READABLE = `
  select n.nspname::text as schema, c.relname::text as name,
    array(select a.attname::text from pg_catalog.pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
            and pg_catalog.has_column_privilege('service_role', c.oid, a.attnum, 'SELECT')
          order by a.attnum) as columns
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and c.relpersistence <> 't' and n.nspname !~ '^pg_'
    and n.nspname not in ('information_schema', 'auth', 'storage', 'realtime', 'hooks', 'plinth', 'plinth_migrations')
    and ($1::text is null or n.nspname || '.' || c.relname = $1)
    and pg_catalog.has_schema_privilege('service_role', n.oid, 'USAGE')
    and pg_catalog.has_any_column_privilege('service_role', c.oid, 'SELECT')
  order by 1, 2 limit 5000`;

@Injectable()
export class ReadableTableRepository {
  constructor(private readonly owner: OwnerDatabase) {}

  /** @param table `schema.name`; absent: the first 5,000 tables */
  listReadableTables(project: ProjectEntity, table?: string): Promise<ReadableTable[]> {
    return this.owner.use(
      project,
      'the catalog tells which tables of an archive the service role may read',
      async (client) => (await client.query<ReadableTable>(READABLE, [table ?? null])).rows,
      { options: OWNER_WORK_OPTIONS },
    );
  }
}
