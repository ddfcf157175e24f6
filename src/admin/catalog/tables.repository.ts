/** The tables of a project as its owner sees them, with their row-level security. */
import { Injectable } from '@nestjs/common';
import type { BoundedClient } from '../../database/pools/one-off-connection';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectEntity } from '../../projects/project.entity';
import { TableResponse } from './table-record';

const TIMEOUT_MS = 30_000;

@Injectable()
export class TablesRepository {
  constructor(private readonly owner: OwnerDatabase) {}

  /** Excludes Plinth's own tables and the system's. */
  async list(project: ProjectEntity): Promise<TableResponse[]> {
    const list = async (client: BoundedClient): Promise<TableResponse[]> => {
      const { rows } = await client.query<TableResponse>(`
        select n.nspname as schema, c.relname as name, c.relrowsecurity as rls_enabled,
          c.relforcerowsecurity as rls_forced,
          (select count(*)::int from pg_policy p where p.polrelid = c.oid) as policies,
          not c.relrowsecurity and exists (select from unnest(array['anon', 'authenticated']) role
            where has_schema_privilege(role, n.oid, 'USAGE')
              and has_table_privilege(role, c.oid, 'SELECT, INSERT, UPDATE, DELETE')) as open,
          c.reltuples::float8 as estimated_rows
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where c.relkind in ('r', 'p') and n.nspname !~ '^pg_'
          and n.nspname not in ('information_schema', 'auth', 'extensions', 'plinth', 'plinth_migrations')
        order by 1, 2`);
      return rows;
    };
    const settings = { statement_timeout: TIMEOUT_MS };
    return this.owner.use(project, 'the administrator lists tables', list, settings);
  }
}
