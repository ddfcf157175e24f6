/** A project with which tests observe how Plinth connects to its database. */
import { Client } from 'pg';
import { HttpClient } from '../../support/http-client';
import { until } from './processes';

interface ProjectDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly owner_url: string;
}

export interface SocketProject {
  readonly baseUrl: string;
  readonly slug: string;
  readonly service_role_key: string;
  readonly database: ProjectDatabase;
}

/** Advisory lock of a sleeping read; every role can see locks. */
const LOCK = 7_531;

export async function newSocketProject(admin: HttpClient): Promise<SocketProject> {
  const created = await admin.post('/admin/v1/projects', { name: 'Socket' });
  const { id, ...rest } = created.body as Omit<SocketProject, 'database' | 'baseUrl'> & { id: string };
  const sql = `
    create function public.from_where() returns text language sql stable
      as $$ select coalesce(host(inet_client_addr()), 'socket') $$;
    create function public.sleeps() returns void language plpgsql stable as $$
      begin
        perform pg_advisory_xact_lock(${LOCK}), pg_sleep(600);
      end $$;
    create view public.sleepers as select public.sleeps()::text as name;`;
  expect((await admin.post(`/admin/v1/projects/${id}/sql`, { query: sql })).status).toBe(200);
  const database = (await admin.get(`/admin/v1/projects/${id}/database`)).body as ProjectDatabase;
  return { ...rest, baseUrl: admin.baseUrl, database };
}

function headersOf({ service_role_key: key }: SocketProject): Record<string, string> {
  return { apikey: key, authorization: `Bearer ${key}` };
}

export function restOf(project: SocketProject): HttpClient {
  return new HttpClient(`${project.baseUrl}/p/${project.slug}/rest/v1`, headersOf(project));
}

export async function answerOf(url: string, statement: string): Promise<unknown> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query<{ answer: unknown }>(statement)).rows[0]?.answer;
  } finally {
    await client.end();
  }
}

/** Expects that a cancelled request ends; a cancel request uses the socket too. */
export async function expectCancelled(project: SocketProject): Promise<void> {
  const asleep = async (): Promise<boolean> =>
    (await answerOf(
      project.database.owner_url,
      `select exists (select from pg_locks where locktype = 'advisory' and objid = ${LOCK}) as answer`,
    )) as boolean;
  const abort = new AbortController();
  const gone = fetch(`${project.baseUrl}/p/${project.slug}/rest/v1/sleepers`, {
    headers: headersOf(project),
    signal: abort.signal,
  }).catch(() => null);
  await until(asleep);
  abort.abort();
  await gone;
  await until(async () => !(await asleep()));
}
