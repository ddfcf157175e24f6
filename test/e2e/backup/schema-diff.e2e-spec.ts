/** `plinth db diff` against a running server, and the physical backup of an install whose PostgreSQL is not the embedded one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { backUp } from '../../support/backups';
import { cliEnvironment } from '../../support/cli-environment';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const TABLE = 'create table notes (id int primary key, title text not null)';

let plinth: TestPlinth;
let project: TestProject;
let directory: string;
let migrations: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-diff-'));
  migrations = join(directory, 'db');
  mkdirSync(migrations);
  writeFileSync(join(migrations, '1_notes.sql'), `${TABLE};\n`);
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(TABLE);
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

const EQUAL = { code: 0, out: '', err: 'The schemas are equal.\n' };

async function scratchProjects(): Promise<string[]> {
  const { body } = await plinth.admin.get('/admin/v1/projects?search=plinth-diff');
  return (body as { slug: string }[]).map(({ slug }) => slug);
}

it('finds no difference to migrations that make the same schema, and leaves no project behind', async () => {
  expect(await run('db', 'diff', project.slug, '--from', migrations)).toEqual(EQUAL);
  expect(await scratchProjects()).toEqual([]);
});

it('names the file of a migration that fails, and leaves no project behind', async () => {
  const broken = join(directory, 'broken');
  mkdirSync(broken);
  writeFileSync(join(broken, '1_broken.sql'), 'create tabel notes ();\n');
  const { code, out, err } = await run('db', 'diff', project.slug, '--from', broken);
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('1_broken.sql: syntax error')]);
  expect(await scratchProjects()).toEqual([]);
});

it('finds no difference to a second project with the same schema, whose roles have other names', async () => {
  const second = await plinth.createProject();
  await second.sql(TABLE);
  expect(await run('db', 'diff', project.slug, '--from', second.slug)).toEqual(EQUAL);
});

it('shows what was added, removed and changed since a backup, and exits with 1', async () => {
  const other = await plinth.createProject();
  await other.sql(`${TABLE}; create view titles as select title from notes`);
  const file = join(directory, 'before.tar.gz');
  writeFileSync(file, await backUp(plinth, other.id));
  expect(await run('db', 'diff', other.slug, '--from', file)).toEqual(EQUAL);
  await other.sql(`drop view titles; alter table notes alter title type varchar(80);
    create policy readers on notes for select using (id > 7); alter table notes disable row level security`);
  const { code, out, err } = await run('db', 'diff', other.slug, '--from', file);
  expect([code, err]).toEqual([1, 'The schemas differ.\n']);
  const [from, to, ...lines] = out.trimEnd().split('\n');
  expect([from, to]).toEqual([`--- ${file}`, `+++ ${other.slug}`]);
  expect(lines.filter((line) => line.startsWith('@@'))).toEqual([
    expect.stringMatching(/ACL public\.TABLE titles$/),
    '@@ -0,0 +1,1 @@ POLICY public.notes readers',
    '@@ -1,1 +0,0 @@ ROW SECURITY public.notes',
    '@@ -1,4 +1,4 @@ TABLE public.notes',
    '@@ -1,3 +0,0 @@ VIEW public.titles',
  ]);
  expect(lines).toEqual(
    expect.arrayContaining([
      '+CREATE POLICY readers ON public.notes FOR SELECT USING ((id > 7));',
      '-ALTER TABLE public.notes ENABLE ROW LEVEL SECURITY;',
      ' CREATE TABLE public.notes (',
      '     id integer NOT NULL,',
      '-    title text NOT NULL',
      '+    title character varying(80) NOT NULL',
      ' );',
    ]),
  );
});

it('refuses a source that does not exist', async () => {
  const { code, err } = await run('db', 'diff', project.slug, '--from', 'no-such-project');
  expect([code, err]).toEqual([3, expect.stringContaining('no such project')]);
});

it('refuses the physical backup of a PostgreSQL that is not the embedded one', async () => {
  const env = { DATABASE_URL: 'postgres://plinth@database.example.com/plinth' };
  const other = await TestPlinth.start({ replicaOf: plinth, env });
  const headers = { 'backup-passphrase': 'a-passphrase-for-the-test' };
  const { status, body } = await other.admin.get('/admin/v1/physical-backup', { headers });
  await other.stop();
  expect([status, body.error.code]).toEqual([400, 'backup_not_supported']);
});
