/** The statements of a project's database from pg_stat_statements, where the server has it. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { withConnection } from '../../database/pools/one-off-connection';
import { REQUEST_ROLES } from '../../database/platform/server-capabilities';
import { PLATFORM_URL } from '../../database/platform/platform-url';
import { ProjectEntity } from '../../projects/project.entity';
import { ProjectsService } from '../../projects/projects.service';
import { MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { SlowQueries, SlowQueryRow } from './database-activity';

const TIMEOUT_MS = 10_000;
const MAX_CHARACTERS = 4_000;

export const SLOW_ORDERS = ['total', 'mean', 'max', 'calls'] as const;
export type SlowOrder = (typeof SLOW_ORDERS)[number];

const COLUMNS: Readonly<Record<SlowOrder, string>> = {
  total: 's.total_exec_time',
  mean: 's.mean_exec_time',
  max: 's.max_exec_time',
  calls: 's.calls',
};

interface Extension {
  readonly schema: string | null;
  readonly loaded: boolean;
}

/** Statements of Plinth itself: they set the context of a request, or read the catalogs. */
const OWN = String.raw`pg_catalog\.num_nulls|\m(from|join)\s+\(*(pg_catalog\.)?pg_[a-z]|\mcurrent_setting\(\$1, \$2\) as marks|pg_backend_pid\(\) as pid|\mas inserted$`;
/** All statements of table REST have one of its aliases; other statements of these roles come from storage and auth. */
const OF_TABLE_REST = 'plinth_';

const EXTENSION = `select (select quote_ident(n.nspname) from pg_catalog.pg_extension e
    join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_stat_statements') as schema,
  current_setting('pg_stat_statements.max', true) is not null as loaded`;

@Injectable()
export class SlowQueriesRepository {
  constructor(
    private readonly projects: ProjectsService,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  async list(project: ProjectEntity, order: SlowOrder, limit: number): Promise<SlowQueries> {
    return this.inStatisticsDatabase(project, async (client) => {
      await client.query(`set statement_timeout = ${TIMEOUT_MS}`);
      const { rows } = await client.query<Extension>(EXTENSION);
      const schema = rows[0]?.schema ?? null;
      if (schema === null || !rows[0]?.loaded) return unavailable(rows[0]?.loaded === true);
      const since = await client.query<{ at: Date | null }>(
        `select stats_reset as at from ${schema}.pg_stat_statements_info`,
      );
      const found = await client.query<SlowQueryRow>(
        `select left(s.query, ${MAX_CHARACTERS}) as query, r.rolname as role, s.calls::float8 as calls,
           s.rows::float8 as rows, round(s.total_exec_time::numeric, 3)::float8 as total_ms,
           round(s.mean_exec_time::numeric, 3)::float8 as mean_ms, round(s.max_exec_time::numeric, 3)::float8 as max_ms,
           round(100 * s.shared_blks_hit::numeric / nullif(s.shared_blks_hit + s.shared_blks_read, 0), 1)::float8
             as cache_percent
         from ${schema}.pg_stat_statements s join pg_catalog.pg_database d on d.oid = s.dbid
           left join pg_catalog.pg_roles r on r.oid = s.userid
         where d.datname = $1 and s.query !~* $3 and r.rolname <> all ($4)
           and (r.rolname <> all ($5) or strpos(s.query, $6) > 0)
         order by ${COLUMNS[order]} desc limit $2`,
        [
          project.databaseName,
          limit,
          OWN,
          [project.loginRole, await roleOf(client)],
          REQUEST_ROLES,
          OF_TABLE_REST,
        ],
      );
      return {
        available: true,
        reason: null,
        since: since.rows[0]?.at?.toISOString() ?? null,
        queries: found.rows,
      };
    });
  }

  /** The platform database has the extension; on another server the maintenance database may have it. */
  private inStatisticsDatabase<T>(project: ProjectEntity, work: (client: Client) => Promise<T>): Promise<T> {
    return project.serverUrl === null
      ? withConnection({ connectionString: this.platformUrl }, work)
      : this.projects.serverOf(project).asAdmin(MAINTENANCE_DATABASE, work);
  }
}

async function roleOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user as role');
  return rows[0]?.role ?? '';
}

function unavailable(isLoaded: boolean): SlowQueries {
  const reason = isLoaded
    ? 'Create the extension pg_stat_statements: in the platform database, or in the database postgres of another server'
    : 'The server does not load pg_stat_statements: add it to shared_preload_libraries';
  return { available: false, reason, since: null, queries: [] };
}
