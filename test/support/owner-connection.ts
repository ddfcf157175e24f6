/** Direct connections, like those of psql, as the owner or another role of a test project. */
import { Client } from 'pg';
import { withConnection } from '../../src/database/pools/one-off-connection';
import type { TestPlinth } from './plinth';

export interface DatabaseAccess {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly owner_role: string;
  readonly owner_password: string;
  readonly owner_url: string;
  readonly login_role: string;
}

export async function accessOf(plinth: TestPlinth, projectId: string): Promise<DatabaseAccess> {
  const answer = await plinth.admin.get(`/admin/v1/projects/${projectId}/database`);
  if (answer.status !== 200) throw new Error(`database answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** Logs in as the owner of a project, into its database or another one. */
export function asOwner<T>(
  { host, port, owner_role: user, owner_password: password, database }: DatabaseAccess,
  work: (client: Client) => Promise<T>,
  into: { database?: string } = {},
): Promise<T> {
  return withConnection({ host, port, user, password, database, ...into }, work);
}

/** Logs in as the superuser of the test run's server, into one of its databases. */
export function asSuperuser<T>(database: string, work: (client: Client) => Promise<T>): Promise<T> {
  const url = new URL(process.env.PLINTH_TEST_DATABASE_URL as string);
  url.pathname = `/${database}`;
  return withConnection({ connectionString: url.href }, work);
}

/** SQLSTATE of the error of `work`; null if it succeeds. */
export async function sqlstateOf(work: Promise<unknown>): Promise<string | null> {
  return work.then(
    () => null,
    (error: { code?: string }) => error.code ?? 'no code',
  );
}

/** Major version of the test run's server. */
export async function serverVersion(): Promise<number> {
  return asSuperuser('postgres', async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int / 10000 as version`,
    );
    return rows[0]?.version ?? 0;
  });
}

/**
 * Makes a role a member of the role whose members the embedded PostgreSQL admits. The first Plinth on a
 * server creates that role; an admin role grants it to its own roles.
 */
export async function letIn(client: Client, role: string): Promise<void> {
  if ((await serverVersion()) < 16) return;
  await client.query(`do $$ begin create role plinth_logins; exception when duplicate_object then null; end $$;
    grant plinth_logins to ${role} with admin option`);
}
