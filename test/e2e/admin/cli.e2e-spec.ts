/** The command line, against a running server (DECISIONS.md 7). */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { freePort } from '../../support/plinth-process';
import { upload } from '../../support/uploads';

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

async function run(
  args: string[],
  { stdin = '', bases = [plinth.baseUrl], key = ADMIN_KEY, signal = new AbortController().signal } = {},
): Promise<Outcome> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient(bases, key),
      readStdin: async () => stdin,
      untilInterrupted: () => signal,
      stdin: Readable.from([stdin]),
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
async function json(args: string[]): Promise<any> {
  const { code, out, err } = await run([...args, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('plinth project', () => {
  it('pauses a project and resumes it', async () => {
    const project = await plinth.createProject();
    const paused = await run(['project', 'pause', project.slug]);
    expect(paused).toEqual({ code: 0, out: `Project "${project.slug}" is paused.\n`, err: '' });
    expect((await json(['project', 'show', project.slug])).paused_at).toMatch(/^\d{4}-/);
    expect(await json(['project', 'resume', project.id])).toMatchObject({ id: project.id, paused_at: null });
  });

  it('creates a project and shows its keys', async () => {
    const { code, out } = await run(['project', 'create', 'Command Line', '--plan', 'pro']);
    expect(code).toBe(0);
    expect(out).toMatch(/^slug +command-line$/m);
    expect(out).toMatch(/^anon_key +ey/m);
    expect((await run(['project', 'keys', 'command-line'])).out).toMatch(/^service_role_key +ey/m);
  });

  it('refuses a second project of the same name unless a slug is generated', async () => {
    expect((await run(['project', 'create', 'Twice'])).code).toBe(0);
    const again = await run(['project', 'create', 'Twice']);
    expect(again).toEqual({
      code: 1,
      out: '',
      err: 'The slug "twice" is taken; choose another one, or let Plinth generate one (--slug, --generate-slug)\n',
    });
    expect((await json(['project', 'create', 'Twice', '--generate-slug'])).slug).toMatch(/^twice-\w{5}$/);
    expect((await json(['project', 'create', '日本語', '--generate-slug'])).slug).toMatch(/^project-/);
    expect((await run(['project', 'create', 'X', '--slug', 'x2', '--generate-slug'])).code).toBe(2);
  });

  it('accepts settings as JSON or text, and refuses unknown ones', async () => {
    const created = await json([
      'project',
      'create',
      'With settings',
      '--set',
      'max_rows=50',
      '--set',
      'locale=de',
    ]);
    expect(created.settings).toMatchObject({ max_rows: 50, locale: 'de' });
    const { code, err } = await run(['project', 'update', created.slug, '--set', 'max_row=1']);
    expect([code, err]).toEqual([1, 'settings.max_row is unknown; did you mean max_rows?\n']);
    const reset = await json([
      'project',
      'update',
      created.id,
      '--set',
      'max_rows=null',
      '--name',
      'Renamed',
    ]);
    expect([reset.settings.max_rows, reset.name]).toEqual([null, 'Renamed']);
  });

  it('lists projects in a table, or as JSON', async () => {
    const created = await json(['project', 'create', 'Listed']);
    const { out } = await run(['project', 'list']);
    expect(out).toMatch(/^slug +name +plan +server +id +created_at$/m);
    expect(out).toContain(created.id);
    const found = await json(['project', 'list', '--search', 'liste']);
    expect(found.map(({ slug }: { slug: string }) => slug)).toEqual(['listed']);
  });

  it('runs SQL given as text, from a file or from standard input', async () => {
    const { slug } = await json(['project', 'create', 'Sql']);
    expect(await run(['project', 'sql', slug, 'create table notes (id int, text text)'])).toEqual({
      code: 0,
      out: 'CREATE\n',
      err: '',
    });
    const directory = mkdtempSync(join(tmpdir(), 'plinth-cli-'));
    const file = join(directory, 'notes.sql');
    writeFileSync(file, "insert into notes values (1, 'first')");
    expect((await run(['project', 'sql', slug, '--file', file])).out).toBe('INSERT 1\n');
    rmSync(directory, { recursive: true });
    const { out } = await run(['project', 'sql', slug], { stdin: 'select * from notes' });
    expect(out).toBe(['id  text', '--  -----', ' 1  first', ''].join('\n'));
    const exact = `select 'Infinity'::float8 as f, '\\x00ff'::bytea as b, interval '0' as i, array[0.10] as "1",
      '{"n": 12345678901234567890}'::jsonb as j`;
    expect(
      (await run(['project', 'sql', slug, exact])).out.split('\n').map((line) => line.trimEnd()),
    ).toEqual([
      '       f  b       i         1       j',
      '--------  ------  --------  ------  ---------------------------',
      'Infinity  \\x00ff  00:00:00  {0.10}  {"n": 12345678901234567890}',
      '',
    ]);
    expect((await run(['project', 'sql', slug, exact, '--json'])).out).toContain(
      '"1":["0.10"],"j":{"n": 12345678901234567890}',
    );
    expect((await run(['project', 'sql', slug])).code).toBe(2);
  });

  it('reports file, line and column of an error in SQL', async () => {
    const { slug } = await json(['project', 'create', 'Wrong']);
    const message = 'relation "nowhere" does not exist';
    const failed = (err: string) => ({ code: 1, out: '', err });
    expect(await run(['project', 'sql', slug, 'select * from nowhere'])).toEqual(
      failed(`line 1, column 15: ${message}\n`),
    );
    const stdin = `create table notes ();\n-- ü\u{1f418}\n  select '\u{1f418}' from nowhere`;
    expect(await run(['project', 'sql', slug], { stdin })).toEqual(failed(`line 3, column 19: ${message}\n`));
    const directory = mkdtempSync(join(tmpdir(), 'plinth-cli-'));
    const file = join(directory, 'notes.sql');
    writeFileSync(file, stdin);
    expect(await run(['project', 'sql', slug, '-f', file])).toEqual(failed(`${file}:3:19: ${message}\n`));
    rmSync(directory, { recursive: true });
    const { out } = await run(['--json', 'project', 'sql', slug], { stdin });
    expect(JSON.parse(out).error.database.location).toEqual({ line: 3, column: 19 });
    const raising = `do $$ begin raise 'no place' using hint = 'elsewhere'; end $$`;
    const raised = await run(['project', 'sql', slug, raising]);
    expect(raised).toEqual(failed('no place\nHint: elsewhere\n'));
  });

  it('reports a missing file in one line', async () => {
    const { slug } = await json(['project', 'create', 'Lost']);
    const { code, err } = await run(['project', 'sql', slug, '-f', '/nowhere/notes.sql']);
    expect([code, err]).toEqual([1, '/nowhere/notes.sql: no such file or directory\n']);
  });

  it('lists tables and marks those open to every role', async () => {
    const { slug } = await json(['project', 'create', 'Tables']);
    await run(['project', 'sql', slug, 'create table a (id int)']);
    await run(['project', 'sql', slug, 'alter table a disable row level security']);
    const { out, err } = await run(['project', 'tables', slug]);
    expect(out).toMatch(/^public +a +false/m);
    expect(err).toContain('1 of them can be accessed with the anon key');
  });

  it('prints the connection string for psql', async () => {
    const { slug } = await json(['project', 'create', 'Psql']);
    expect((await json(['project', 'database', slug])).owner_url).toMatch(/^postgres:\/\//);
  });

  it('rotates keys and secrets', async () => {
    const { slug, anon_key: before, service_role_key: key } = await json(['project', 'create', 'Rotated']);
    const service = plinth.http.with({ apikey: key, authorization: `Bearer ${key}` });
    const storage = `/p/${slug}/storage`;
    await service.post(`${storage}/buckets`, { name: 'box' });
    const { id } = (await upload(service, storage, 'box', 'content')).body.data;
    const { body } = await service.post(`${storage}/files/${id}/signed-url`, { expiry: '1h' });
    const opened = (): Promise<{ status: number }> =>
      plinth.http.get(body.data.url.replace('http://plinth.test', ''));
    const { anon_key: graceful } = await json(['project', 'rotate-keys', slug, '--grace', '600']);
    expect([graceful === before, (await opened()).status]).toEqual([false, 200]);
    const { anon_key: after } = await json(['project', 'rotate-keys', slug, '--grace', '0']);
    expect([after === graceful, (await opened()).status]).toEqual([false, 401]);
    expect((await run(['project', 'rotate-keys', slug, '--grace', 'soon'])).code).toBe(2);
  });

  it('deletes only with a confirmation', async () => {
    const { slug } = await json(['project', 'create', 'Doomed']);
    const hesitant = await run(['project', 'delete', slug]);
    expect([hesitant.code, hesitant.err]).toEqual([
      2,
      `This deletes "${slug}" and all its data; add --yes to do it\n`,
    ]);
    expect((await run(['project', 'delete', slug, '--yes'])).code).toBe(0);
    const gone = await run(['project', 'show', slug]);
    expect([gone.code, gone.err]).toEqual([3, 'There is no such project\n']);
  });
});

describe('plinth audit', () => {
  it('shows actors and actions, also of deleted projects', async () => {
    const { id, slug } = await json(['project', 'create', 'Audited']);
    await run(['project', 'delete', slug, '--yes']);
    const { out } = await run(['audit', '--project', id]);
    expect(out).toMatch(/platform-admin-key +\S+ +project.delete/);
    const actions = await json(['audit', '--project', id, '--action', 'project.create']);
    expect(actions).toHaveLength(1);
    expect(await json(['audit', '--actor', 'nobody'])).toEqual([]);
  });

  it('verifies the chain and prints its head, which a later run compares', async () => {
    const first = await run(['audit', 'verify']);
    expect(first).toMatchObject({ code: 0, err: '' });
    const head = /^head (\d+:[0-9a-f]{64})$/m.exec(first.out)?.[1] ?? '';
    expect((await run(['audit', 'verify', '--head', head])).code).toBe(0);
    const foreign = `${head.split(':')[0]}:${'0'.repeat(64)}`;
    const broken = await run(['audit', 'verify', '--head', foreign]);
    expect(broken.code).toBe(1);
    expect(broken.err).toMatch(/^The chain is broken at position \d+: the chain does not hold this head/);
    expect(await json(['audit', 'verify'])).toMatchObject({ intact: true, broken: null });
  });
});

describe('plinth', () => {
  it('reports in one line that no server answers, and exits with 4', async () => {
    const port = await freePort();
    const bases = [`http://127.0.0.1:${port}`];
    const { code, out, err } = await run(['project', 'list'], { bases });
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err.split('\n')).toEqual([
      expect.stringContaining(`No Plinth answers on http://127.0.0.1:${port}.`),
      '',
    ]);
  });

  it('tries the next address if nothing listens on the first', async () => {
    const { code } = await run(['project', 'list'], {
      bases: [`http://127.0.0.1:${await freePort()}`, plinth.baseUrl],
    });
    expect(code).toBe(0);
  });

  it('does not follow a redirect, which would pass the key on', async () => {
    const target = plinth.baseUrl;
    const redirecting = createServer((request, response) => {
      response.writeHead(307, { location: `${target}${request.url}` }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as AddressInfo;
    const outcome = await run(['project', 'list'], { bases: [`http://127.0.0.1:${port}`] });
    await new Promise((resolve) => redirecting.close(resolve));
    expect(outcome).toEqual({ code: 1, out: '', err: 'the server answered 307\n' });
  });

  it.each([
    ['404 of another program', 404, 'text/plain', 'not found'],
    ['404 of another API', 404, 'application/json', '{"error":{"message":"no route"}}'],
    ['page of another program', 200, 'text/html', '<!doctype html>'],
    ['401 of another program', 401, 'text/plain', 'who are you?'],
  ])(
    'does not mistake a %s for a response of Plinth, and exits with 4',
    async (_what, status, type, body) => {
      const foreign = createServer((_request, response) => {
        response.writeHead(status, { 'content-type': type }).end(body);
      });
      await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
      const base = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
      const outcome = await run(['project', 'show', 'acme'], { bases: [base] });
      await new Promise((resolve) => foreign.close(resolve));
      expect(outcome).toEqual({
        code: 4,
        out: '',
        err: `The server at ${base} is not Plinth (it answered ${status}): set PORT or PUBLIC_URL as for the server.\n`,
      });
    },
  );

  it('reports a wrong key in one line', async () => {
    const { code, err } = await run(['project', 'list'], { key: 'another-key' });
    expect([code, err.split('\n')]).toEqual([1, [expect.stringContaining('PLATFORM_ADMIN_KEY'), '']]);
  });

  it('exits with 2 for unknown commands and options, and with 0 for help', async () => {
    expect((await run(['project', 'destroy'])).code).toBe(2);
    expect((await run(['project', 'list', '--colour'])).code).toBe(2);
    expect((await run(['project', 'create', 'X', '--plan', 'gold'])).code).toBe(2);
    const help = await run(['project', '--help']);
    expect([help.code, help.out]).toEqual([0, expect.stringContaining('rotate-keys')]);
  });

  it('prints errors as JSON on request', async () => {
    const { code, out } = await run(['--json', 'project', 'show', 'nobody']);
    expect([code, JSON.parse(out).error.code]).toEqual([3, 'project_not_found']);
  });
});

describe('plinth storage', () => {
  it('checks the consistency of files and bytes, of one project or all', async () => {
    const project = await plinth.createProject();
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    await upload(project.service, project.storage, 'box', 'kept', { name: 'kept.txt' });
    const healthy = {
      project: project.slug,
      objects: 1,
      bytes_without_row: { count: 0, size: 0, object_ids: [] },
      rows_without_bytes: { count: 0, files: [] },
    };
    expect(await json(['storage', 'check', '--project', project.slug])).toEqual([healthy]);
    expect(await json(['storage', 'check'])).toContainEqual(healthy);
    expect(await json(['storage', 'sweep', '--project', project.id])).toEqual([
      { project: project.slug, removed_objects: 0, removed_uploads: 0, rows_without_bytes: 0 },
    ]);
  });

  it('counts bytes without a file, and names files without bytes', async () => {
    const project = await plinth.createProject();
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    await upload(project.service, project.storage, 'box', 'lost', { name: 'lost.txt' });
    const root = join(plinth.dataDir, 'files', project.id);
    rmSync(root, { recursive: true });
    const orphan = randomUUID();
    mkdirSync(join(root, orphan.slice(0, 2)), { recursive: true });
    writeFileSync(join(root, orphan.slice(0, 2), orphan), 'orphan');
    plinth.clock.move(3_610);
    const { code, out } = await run(['storage', 'check', '--project', project.slug]);
    const [check] = await json(['storage', 'check', '--project', project.slug]);
    plinth.clock.move(-3_610);
    expect(code).toBe(0);
    expect(out).toMatch(/^project +objects +bytes_without_row +size +rows_without_bytes$/m);
    expect(out).toMatch(new RegExp(`^${project.slug} +1 +1 +6 +1$`, 'm'));
    expect(out).toMatch(/^Files without bytes:$/m);
    expect(out).toMatch(/lost\.txt$/m);
    expect(check.bytes_without_row).toEqual({ count: 1, size: 6, object_ids: [orphan] });
    expect(check.rows_without_bytes).toMatchObject({ count: 1, files: [{ filename: 'lost.txt' }] });
  });

  it('names the unknown project', async () => {
    expect((await run(['storage', 'check', '--project', 'nowhere'])).code).toBe(3);
  });
});

describe('plinth gen types', () => {
  let slug: string;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    const project = await plinth.createProject();
    slug = project.slug;
    await project.sql(`
      create table notes (id int primary key, secret text);
      revoke all on notes from anon, authenticated;
      grant select (id) on notes to anon, authenticated;
    `);
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-types-'));
    file = join(folder, 'types.ts');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('prints the types of either language, for the service role or another', async () => {
    const plain = await run(['gen', 'types', slug]);
    expect({ code: plain.code, err: plain.err }).toEqual({ code: 0, err: '' });
    expect(plain.out).toMatch(
      /for the role service_role[^]*export type Notes = \{\n {2}id: number;\n {2}secret: string \| null;/,
    );
    const supabase = await run(['gen', 'types', slug, '--lang', 'supabase']);
    expect(supabase.out).toContain('export type Database = {');
    for (const role of ['anon', 'authenticated']) {
      const { out } = await run(['gen', 'types', slug, '--role', role]);
      expect(out).toContain(`for the role ${role}`);
      expect(out).not.toContain('secret');
    }
    expect(await json(['gen', 'types', slug])).toEqual({
      lang: 'typescript',
      role: 'service_role',
      types: plain.out,
    });
  });

  it('writes a file only if its content changes', async () => {
    expect(await run(['gen', 'types', slug, '-o', file])).toEqual({
      code: 0,
      out: `${file}: written\n`,
      err: '',
    });
    const written = statSync(file);
    expect(await run(['gen', 'types', slug, '-o', file])).toEqual({
      code: 0,
      out: `${file}: unchanged\n`,
      err: '',
    });
    expect([statSync(file).ino, statSync(file).mtimeMs]).toEqual([written.ino, written.mtimeMs]);
    expect(readdirSync(folder)).toEqual(['types.ts']);
    expect(readFileSync(file, 'utf8')).toBe((await run(['gen', 'types', slug])).out);
    expect((await run(['gen', 'types', slug, '-o', join(folder, 'missing', 'types.ts')])).code).toBe(1);
  });

  it('follows changes of the schema, across a rotation of the keys, until interrupted', async () => {
    const project = await plinth.createProject();
    const interruption = new AbortController();
    const watching = run(['gen', 'types', project.slug, '-o', file, '--watch'], {
      signal: interruption.signal,
    });
    await eventually(async () => expect(readFileSync(file, 'utf8')).not.toContain('Late'));
    await project.sql('create table late (id int primary key)');
    await eventually(
      async () => expect(readFileSync(file, 'utf8')).toContain('export type Late = {'),
      15_000,
    );
    await plinth.admin.post(`/admin/v1/projects/${project.id}/keys/rotate`, { grace_seconds: 0 });
    await project.sql('create table later (id int primary key)');
    await eventually(
      async () => expect(readFileSync(file, 'utf8')).toContain('export type Later = {'),
      15_000,
    );
    interruption.abort();
    const { code, out } = await watching;
    expect(code).toBe(0);
    expect(out.split('\n').filter((line) => line === `${file}: written`).length).toBeGreaterThanOrEqual(3);
  });

  it('stops following a project that is deleted', async () => {
    const project = await plinth.createProject();
    const watching = run(['gen', 'types', project.slug, '-o', file, '--watch']);
    await eventually(async () => expect(readFileSync(file, 'utf8')).not.toBe(''));
    await plinth.admin.send('DELETE', `/admin/v1/projects/${project.id}`);
    expect((await watching).code).toBe(3);
  });

  it('explains wrong usage, unknown projects and unknown roles', async () => {
    expect(await run(['gen', 'types', slug, '--watch'])).toEqual({
      code: 2,
      out: '',
      err: '--watch needs a file: add --output\n',
    });
    expect((await run(['gen', 'types', slug, '--lang', 'rust'])).code).toBe(2);
    expect((await run(['gen', 'types', 'nobody'])).code).toBe(3);
    const refused = await run(['gen', 'types', slug, '--role', 'nobody']);
    expect([refused.code, refused.err]).toEqual([1, 'The project does not accept this role\n']);
  });
});
