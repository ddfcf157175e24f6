/** Rows of scheduled archives: the search, access to it, and archives that a hostile party changed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackupDestination } from '../../../src/backup/schedule/backup-destination';
import { BACKUP_CONFIG } from '../../../src/config/app-config';
import { AGE_IDENTITY, AGE_RECIPIENT, PASSPHRASE } from '../../support/backups';
import { costOfParsing, longestHold } from '../../support/event-loop';
import { forged, type ForgedParts } from '../../support/forged-archives';
import type { HttpAnswer } from '../../support/http-client';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { expectSucceeded } from '../../support/scheduled-backups';
import { TestProject } from '../../support/test-project';

const UUID = '00000000-0000-4000-8000-000000000000';

jest.setTimeout(180_000);

let directory: string;
let plinth: TestPlinth;
let project: TestProject;
let backup: { id: string; archive: string };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-archived-rows-'));
  plinth = await TestPlinth.start({
    env: { BACKUP_PASSPHRASE: PASSPHRASE, BACKUP_URL: `file://${directory}` },
  });
  project = await plinth.createProject();
  await project.sql(`
    create table notes (id int primary key, title text, secret text, data jsonb, "odd ""name" bytea,
      twice int generated always as (id * 2) stored);
    insert into notes values (1, 'Milk', 'hush', '{"a": [1]}', '\\x00ff'), (2, null, null, null, null),
      (3, E'tab\\there\\nline \\\\ end \\\\N', '', null, ''), (4, 'MILK again', 'hush', 'null', null);
    create table gone (id int); create table closed (id int); create table bare ();
    create table wide (id int primary key, body text);
    insert into wide values (1, repeat('x', 600000)), (2, 'small');
    create table long (n int primary key, t text);
    insert into long select n, md5(n::text) from generate_series(1, 200000) n;
    create schema "two.part"; grant usage on schema "two.part" to service_role;
    create table "two.part"."of.three" (id int); insert into "two.part"."of.three" values (7);
    grant select on "two.part"."of.three" to service_role`);
  await project.signUp();
  backup = await backUp();
  // Changes after the backup.
  await project.sql(`delete from notes where id in (1, 3); drop table gone; alter table notes add added int;
    revoke select on closed from service_role; revoke select on notes from service_role;
    grant select (id, title, data, "odd ""name", added) on notes to service_role`);
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

let backups = 0;
async function backUp(): Promise<typeof backup> {
  await plinth.admin.post('/admin/v1/backups/runs', { project_id: project.id });
  await expectSucceeded(project.id, ++backups, plinth);
  const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/backups`);
  return body[0]!;
}

const find = (table: string, query: Record<string, string> = {}, id = backup.id): Promise<HttpAnswer> =>
  plinth.admin.get(
    `/admin/v1/projects/${project.id}/backups/${id}/tables/${encodeURIComponent(table)}/rows?${new URLSearchParams(query).toString()}`,
  );
const codeOf = ({ status, body }: HttpAnswer): unknown[] => [status, body?.error?.code];

it('lists the archives, and the tables that can be read today', async () => {
  const { body } = await plinth.admin.get(`/admin/v1/projects/${project.id}/backups/${backup.id}/tables`);
  const names = body.map(({ schema, name }) => `${schema}.${name}`);
  expect(names).toEqual(['public.long', 'public.notes', 'public.wide', 'two.part.of.three']);
  expect(body[1]!.columns).toEqual(['id', 'title', 'data', 'odd "name']);
});

it.each([
  ['a key', { column: 'id', value: '3' }, ['3']],
  ['a text, ignoring case', { search: 'milk' }, ['1', '4']],
  ['both', { column: 'title', value: 'Milk', search: '[1]' }, ['1']],
  ['part of a value, without a match', { column: 'title', value: 'Mil' }, []],
  ['a column that may not be read, without a match', { search: 'hush' }, []],
  ['no condition', {}, ['1', '2', '3', '4']],
])('finds rows by %s', async (_case, query, ids) => {
  const { status, body } = await find('public.notes', query);
  expect(status).toBe(200);
  expect(body.rows.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(body).toMatchObject({ complete: true, skipped: 0 });
});

it('returns values as PostgreSQL prints them', async () => {
  const { body } = await find('public.notes');
  expect(body.columns).toEqual(['id', 'title', 'data', 'odd "name']);
  expect(body.rows).toEqual([
    { id: '1', title: 'Milk', data: '{"a": [1]}', 'odd "name': '\\x00ff' },
    { id: '2', title: null, data: null, 'odd "name': null },
    { id: '3', title: 'tab\there\nline \\ end \\N', data: null, 'odd "name': '\\x' },
    { id: '4', title: 'MILK again', data: 'null', 'odd "name': null },
  ]);
  expect((await find('two.part.of.three')).body.rows).toEqual([{ id: '7' }]);
});

it('reports whether there are more rows, and how many are too long', async () => {
  expect((await find('public.notes', { limit: '2' })).body).toMatchObject({
    complete: false,
    rows: { length: 2 },
  });
  expect((await find('public.wide')).body).toMatchObject({
    complete: true,
    skipped: 1,
    rows: [{ id: '2', body: 'small' }],
  });
});

it('refuses what the service role may not read, and backups of others', async () => {
  for (const table of ['public.gone', 'public.closed', 'public.bare', 'auth.users', 'plinth.x', 'notes', ''])
    expect((await find(table)).status).toBe(404);
  for (const column of ['secret', 'twice', 'added', 'none'])
    expect(codeOf(await find('public.notes', { column, value: '1' }))).toEqual([404, 'not_found']);
  for (const id of [UUID, 'x']) {
    expect(codeOf(await find('public.notes', {}, id))).toEqual([404, 'backup_not_found']);
  }
  const other = await plinth.createProject();
  const path = `/admin/v1/projects/${other.id}/backups/${backup.id}/tables`;
  expect(codeOf(await plinth.admin.get(path))).toEqual([404, 'backup_not_found']);
  expect((await plinth.admin.get(`/admin/v1/projects/${other.id}/backups`)).body).toEqual([]);
  for (const query of [{ column: 'id' }, { value: '1' }, { limit: '0' }, { limit: '201' }, { id: '1' }])
    expect((await find('public.notes', query as never)).status).toBe(400);
});

it('records each search, without the value', async () => {
  await find('public.notes', { column: 'title', value: 'nobody knows' });
  const { body, text } = await plinth.admin.get('/admin/v1/audit-log?action=backup.rows&limit=1');
  expect(JSON.stringify(body)).toContain('public.notes');
  expect(text).not.toContain('nobody knows');
});

it('does not hold the event loop longer than a request may', async () => {
  const { answer, held } = await longestHold(() => find('public.long', { search: 'no md5 has this' }));
  expect(answer.body).toMatchObject({ complete: true, rows: [] });
  expect(held).toBeLessThan(costOfParsing() / 3);
});

describe('an archive that was changed', () => {
  let archiveFile: string;
  let intact: Buffer;
  beforeAll(() => {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    archiveFile = join(
      directory,
      names.find((name) => name.endsWith(backup.archive))!,
    );
    intact = readFileSync(archiveFile);
  });
  afterAll(() => writeFileSync(archiveFile, intact));

  const memberOf = ({ header }: ForgedParts, name: string): string =>
    (header.tables as { name: string; member: string }[]).find((table) => table.name === name)!.member;

  async function forge(change: (parts: ForgedParts) => void): Promise<void> {
    const archive = await forged(intact, change);
    writeFileSync(archiveFile, archive);
    await setSize(archive.length);
  }

  /** Changes the recorded size of the backup. */
  const setSize = (bytes: number): Promise<unknown> =>
    asSuperuser(plinth.platformDatabase, (client) =>
      client.query('update backup_runs set bytes = $1 where id = $2', [bytes, backup.id]),
    );

  it.each<[string, (parts: ForgedParts) => void, RegExp]>([
    [
      'rows with fewer columns',
      (parts) => void parts.members.set(memberOf(parts, 'notes'), Buffer.from('1\n')),
      /number of columns/,
    ],
    ['a table without its member', (parts) => void parts.members.delete(memberOf(parts, 'notes')), /no such/],
  ])('is refused: %s', async (_case, change, message) => {
    await forge(change);
    expect((await find('public.notes')).body.error.message).toMatch(message);
  });

  it('may have a column of any name', async () => {
    await forge((parts) => {
      const tables = parts.header.tables as { name: string; columns: string[] }[];
      tables.find(({ name }) => name === 'notes')!.columns[1] = '__proto__';
    });
    const { body } = await find('public.notes', { column: 'id', value: '1' });
    expect(body).toMatchObject({
      rows: [{ id: '1', data: '{"a": [1]}', 'odd "name': '\\x00ff' }],
    });
  });

  it('is refused when it is cut or missing', async () => {
    await setSize(intact.length);
    writeFileSync(archiveFile, intact.subarray(0, 200));
    expect(codeOf(await find('public.notes'))).toEqual([400, 'invalid_archive']);
    rmSync(archiveFile);
    expect((await find('public.notes')).status).toBeGreaterThanOrEqual(400);
    // The project can read an archive again.
    writeFileSync(archiveFile, intact);
    expect((await find('public.notes')).status).toBe(200);
  });
});

it('opens an archive that was encrypted as a whole if it is given the identity', async () => {
  const identityFile = join(directory, 'identity.txt');
  writeFileSync(identityFile, `${AGE_IDENTITY}\n`);
  const destination = plinth.app.get(BackupDestination);
  const config = plinth.app.get<object>(BACKUP_CONFIG);
  Object.assign(destination, { config: { ...config, recipients: [AGE_RECIPIENT] } });
  const sealed = await backUp();
  expect(sealed.archive).toMatch(/\.age$/);
  expect((await find('public.notes', {}, sealed.id)).status).toBe(400);
  Object.assign(destination, { config: { ...config, recipients: [AGE_RECIPIENT], identityFile } });
  expect((await find('public.notes', {}, sealed.id)).body.rows).toHaveLength(2);
});
