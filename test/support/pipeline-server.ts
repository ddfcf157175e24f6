/** The test run's server, as the tests of src/pg-pipeline connect to it. */
import type { PipelineConfig } from '../../src/pg-pipeline';
import { until } from './eventually';
import { asSuperuser } from './owner-connection';

export function serverUrl(): URL {
  return new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
}

export function serverConfig(url = serverUrl()): PipelineConfig {
  return {
    host: url.hostname,
    port: Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: 'postgres',
    ssl: false,
  };
}

/** Resolves once a server process runs pg_sleep(): a cancel request before that has no effect. */
export async function untilSleeping(pid: number): Promise<void> {
  await asSuperuser('postgres', (admin) =>
    until(async () => {
      const { rows } = await admin.query<{ event: string | null }>(
        'select wait_event as event from pg_stat_activity where pid = $1',
        [pid],
      );
      return rows[0]?.event === 'PgSleep';
    }, 20_000),
  );
}
