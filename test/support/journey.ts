/** The first hour of an install: a project with tables, users, rows, files, live changes, a backup and its restore. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PASSPHRASE } from './backups';
import { EventReader } from './event-stream';
import { eventually } from './eventually';
import { HttpClient } from './http-client';
import { PROCESS_ADMIN_KEY } from './plinth-process';
import { upload } from './uploads';

const CLI = join(__dirname, '../../dist/src/cli.js');
const SCHEMA = `create table notes (id int generated always as identity primary key, text text, owner uuid default auth.uid());
  create policy own on notes to authenticated using (owner = auth.uid()) with check (owner = auth.uid())`;

export interface Journey {
  readonly id: string;
  readonly apikey: string;
}

/** @param baseUrl of an install with PROCESS_ADMIN_KEY @throws Error at the first step that fails */
export async function journey(baseUrl: string, name: string): Promise<Journey> {
  const admin = new HttpClient(baseUrl, { authorization: `Bearer ${PROCESS_ADMIN_KEY}` });
  const created = await admin.post('/admin/v1/projects', { name });
  expect(created).toMatchObject({ status: 201 });
  const { id, slug, anon_key: anon, service_role_key: service } = created.body;
  const as = (key: string, bearer = key): HttpClient =>
    new HttpClient(baseUrl, { apikey: key, authorization: `Bearer ${bearer}` });
  expect(await admin.post(`/admin/v1/projects/${id}/sql`, { query: SCHEMA })).toMatchObject({ status: 200 });
  const login = { email: 'ada@example.com', password: 'correct horse' };
  expect(await as(anon).post(`/v1/auth/${id}/signup`, login)).toMatchObject({ status: 201 });
  const signedIn = await as(anon).post(`/v1/auth/${id}/login`, login);
  const user = as(anon, signedIn.body.session.access_token);

  const stream = await EventReader.open(as(service).with({ accept: 'text/event-stream' }), '/rest/v1/notes');
  const isLive = stream.status === 200;
  expect(await user.post('/rest/v1/notes', { text: 'first' })).toMatchObject({ status: 201 });
  expect((await user.get('/rest/v1/notes?select=text')).body).toEqual([{ text: 'first' }]);
  expect((await as(anon).get('/rest/v1/notes')).body).toEqual([]);
  if (isLive) await eventually(async () => expect(JSON.stringify(stream.events)).toContain('first'));
  await stream.close();

  const storage = `/p/${slug}/storage`;
  expect(await as(service).post(`${storage}/buckets`, { name: 'box' })).toMatchObject({ status: 201 });
  const file = await upload(as(service), storage, 'box', 'x'.repeat(1 << 20));
  expect(file).toMatchObject({ status: 201 });
  const fileId = file.body.data.id as string;
  const bytes = await as(service).get(`${storage}/files/${fileId}/download`);
  expect([bytes.status, bytes.text.length]).toEqual([200, 1 << 20]);

  const archive = await fetch(`${baseUrl}/admin/v1/projects/${id}/backup`, {
    headers: { ...admin.headers, 'backup-passphrase': encodeURIComponent(PASSPHRASE) },
  });
  const body = Buffer.from(await archive.arrayBuffer());
  expect([archive.status, archive.status === 200 ? '' : body.toString('utf8')]).toEqual([200, '']);
  const restored = await admin.post(`/admin/v1/restore?slug=${slug}-copy`, body, {
    headers: { 'content-type': 'application/gzip', 'backup-passphrase': encodeURIComponent(PASSPHRASE) },
  });
  expect(restored).toMatchObject({ status: 201, body: { files: 1, missing_files: 0 } });
  const copy = await admin.post(`/admin/v1/projects/${restored.body.id}/sql`, {
    query: 'select text from notes',
  });
  expect(copy.body.rows).toEqual([{ text: 'first' }]);
  return { id, apikey: service };
}

/** Findings that are expected, because test installations and older versions of PostgreSQL lack some features. */
const EXPECTED = /^(ok|skipped)|^WARNING +(mail|backups) |before PostgreSQL 1[56]/;

/** @returns the unexpected findings of `plinth doctor` */
export async function doctor(
  baseUrl: string,
  dataDir: string,
  env: Record<string, string>,
): Promise<string[]> {
  const all = { PATH: process.env.PATH, PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY, DATA_DIR: dataDir };
  const options = { env: { ...all, PORT: new URL(baseUrl).port, ...env }, cwd: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'doctor'], options).catch(
    (error: { stdout: string; stderr: string }) => ({ stdout: error.stdout + error.stderr }),
  );
  return stdout
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith(' ') && !EXPECTED.test(line));
}
