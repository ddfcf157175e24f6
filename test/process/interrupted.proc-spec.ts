/** Remains of an interruption: bytes of a restore, the database of a rehearsal, and drafts of the command line. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { casesOf } from '../support/extent';
import { eventually, until } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { freePort, PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';
import { upload } from '../support/uploads';
import { ROOT } from './support/processes';

const MIB = 1024 * 1024;
const PASSPHRASE = 'a passphrase for the test';
const HEADERS = { 'backup-passphrase': encodeURIComponent(PASSPHRASE), 'content-type': 'application/gzip' };

jest.setTimeout(300_000);

let directory: string;
let databasePort: string;
let plinth: PlinthProcess;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-interrupted-'));
  databasePort = String(await freePort());
  plinth = await start();
});
afterAll(async () => {
  await plinth.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const start = (): Promise<PlinthProcess> =>
  PlinthProcess.start({
    dataDir: directory,
    env: {
      BACKUP_PASSPHRASE: PASSPHRASE,
      LOG_LEVEL: 'warn',
      EMBEDDED_DATABASE_PORT: databasePort,
    },
  });

/** Names of the databases of projects, and of their roles. */
async function databasesAndRoles(): Promise<string[]> {
  const password = readFileSync(join(directory, 'data/postgres.password'), 'utf8').trim();
  const server = { host: '127.0.0.1', port: Number(databasePort), user: 'postgres', password };
  return withConnection({ ...server, database: 'postgres' }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where datname ~ '^plinth_[a-z0-9]{20}$'
       union all select rolname from pg_roles where rolname ~ '^plinth_[a-z0-9]{20}_' order by 1`,
    );
    return rows.map(({ name }) => name);
  });
}

async function stateOf(id: string): Promise<Record<string, unknown> | undefined> {
  const { body } = await plinth.admin.get('/admin/v1/backups');
  return body.projects.find(({ project_id }) => project_id === id);
}

/** A project whose rehearsal takes a while. @returns its id */
async function projectWithBackup(): Promise<string> {
  const { body: project } = await plinth.admin.post('/admin/v1/projects', { name: 'Rehearsed' });
  const query = `create table large as select n, md5(n::text) as t from generate_series(1, 300000) n`;
  expect((await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
  await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
  const succeeded = async (): Promise<void> =>
    expect((await stateOf(project.id))?.last_status).toBe('succeeded');
  await eventually(succeeded, 120_000);
  return project.id;
}

it('removes the bytes of a restore and the scratch database of a rehearsal that were killed, right after the next start', async () => {
  const { body: project } = await plinth.admin.post('/admin/v1/projects', { name: 'Killed' });
  const service = new HttpClient(plinth.baseUrl, {
    apikey: project.service_role_key,
    authorization: `Bearer ${project.service_role_key}`,
  });
  const storage = `/p/${project.slug}/storage`;
  await service.post(`${storage}/buckets`, { name: 'box' });
  for (let n = 0; n < 3; n += 1)
    expect((await upload(service, storage, 'box', randomBytes(4 * MIB), { name: `file ${n}` })).status).toBe(
      201,
    );
  const answer = await fetch(`${plinth.baseUrl}/admin/v1/projects/${project.id}/backup`, {
    headers: { ...plinth.admin.headers, ...HEADERS },
  });
  const archive = Buffer.from(await answer.arrayBuffer());
  const folder = join(directory, 'data/files', project.id);
  const files = (): unknown[] =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      : [];
  expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).body.deleted).toBe(true);
  await eventually(async () => expect(files()).toEqual([]));
  const rehearsed = await projectWithBackup();

  const before = await databasesAndRoles();
  // The last megabytes of the archive never arrive.
  const sent = request(`${plinth.baseUrl}/admin/v1/restore`, {
    method: 'POST',
    headers: { ...plinth.admin.headers, ...HEADERS, 'content-length': archive.length },
  });
  sent.on('error', () => undefined);
  sent.write(archive.subarray(0, archive.length - 2 * MIB));
  await eventually(async () => expect(files().length).toBeGreaterThan(0), 30_000);
  await plinth.admin.post('/admin/v1/backups/rehearsals', { project_id: rehearsed });
  const isOfRehearsal = (name: string): boolean => !before.includes(name) && !name.includes(project.id);
  await until(async () => (await databasesAndRoles()).some(isOfRehearsal), 30_000);
  await plinth.end('SIGKILL');
  expect(files().length).toBeGreaterThan(0);

  plinth = await start();
  await eventually(async () => expect(files()).toEqual([]), 20_000);
  await eventually(async () => {
    expect(await databasesAndRoles()).toEqual(before);
    expect(await stateOf(rehearsed)).toMatchObject({
      rehearsal: { error: expect.stringContaining('process') },
    });
  }, 60_000);
  expect((await plinth.admin.post('/admin/v1/restore', archive, { headers: HEADERS })).status).toBe(201);
  expect(files().length).toBe(3);
});

it.each(casesOf(['SIGTERM', 'SIGINT'] as const, 1))(
  'a backup that %s ends leaves no draft',
  async (signal) => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/gzip' });
      response.write(randomBytes(MIB));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const target = join(directory, `${signal}.tar.gz`);
      const child = spawn(
        process.execPath,
        [join(ROOT, 'dist/src/cli.js'), 'backup', '--all', '-o', target],
        {
          cwd: directory,
          env: {
            PATH: process.env.PATH,
            HOME: directory,
            PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
            PUBLIC_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
            PORT: String((server.address() as AddressInfo).port),
            BACKUP_PASSPHRASE: PASSPHRASE,
          },
        },
      );
      let said = '';
      child.stderr.on('data', (chunk) => (said += String(chunk)));
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await eventually(
        async () => expect([existsSync(`${target}.part`), said]).toEqual([true, expect.any(String)]),
        30_000,
      );
      child.kill(signal);
      await ended;
      expect(existsSync(`${target}.part`)).toBe(false);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);
