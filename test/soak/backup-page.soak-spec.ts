/**
 * Follows docs/guides/backup.md from top to bottom, up to physical backups (test/process/physical-backup.proc-spec.ts):
 * one machine is backed up and lost, and its data is restored on another machine. Only the address and the directories
 * differ.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from '../process/support/build';
import { ROOT } from '../process/support/processes';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';

const LIMIT_MS = 300_000;
const PAGE = readFileSync(join(ROOT, 'docs/guides/backup.md'), 'utf8').split('## Physical backups')[0] ?? '';
const BLOCKS = [...PAGE.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, text = '']) => text);

/** The block with this text. */
function block(text: string): string {
  const found = BLOCKS.filter((one) => one.includes(text));
  expect([text, found.length]).toEqual([text, 1]);
  return found[0] as string;
}

/** Lines of a block from the first matching line on or, without `isAfter`, before it. */
function part(text: string, since: RegExp, isAfter: boolean): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => since.test(line));
  expect(at).toBeGreaterThan(0);
  return (isAfter ? lines.slice(at) : lines.slice(0, at)).join('\n');
}

let directory: string;
let plinth: PlinthProcess;
let acme: { id: string; slug: string };
let fileId: string;

beforeAll(async () => {
  await build();
  directory = mkdtempSync(join(tmpdir(), 'plinth-backup-page-'));
}, LIMIT_MS);
afterAll(async () => {
  await plinth.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

/** Starts a machine with its own settings. */
async function start(machine: string): Promise<void> {
  const env = {
    DATA_DIR: join(directory, machine),
    MASTER_KEY: `the-master-key-of-the-${machine}-machine-0123456789`,
    BACKUP_PASSPHRASE: 'a long passphrase that is kept elsewhere',
  };
  plinth = await PlinthProcess.start({ dataDir: directory, env });
}

/** Runs commands of the page. @returns what they print; rejects when one of them fails */
function run(commands: string): Promise<string> {
  const text = commands.replaceAll('http://localhost:8080', plinth.baseUrl);
  const cli = `plinth() { '${process.execPath}' '${join(ROOT, 'dist/src/cli.js')}' "$@"; }`;
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    PORT: new URL(plinth.baseUrl).port,
    PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
    ID: acme.id,
    BACKUP_PASSPHRASE: 'a long passphrase that is kept elsewhere',
  };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-euc', `${cli}\n${text}`], { cwd: directory, env }, (error, out, err) =>
      error ? reject(new Error(`${commands}\n${out}${err}`)) : resolve(out),
    );
  });
}

async function fill(): Promise<void> {
  const create = async (name: string): Promise<typeof acme> =>
    (await plinth.admin.post('/admin/v1/projects', { name })).body;
  acme = await create('Acme');
  await create('Scratch');
  const query = 'create table notes as select generate_series(1, 1000) as n';
  await plinth.admin.post(`/admin/v1/projects/${acme.id}/sql`, { query });
  const http = await service();
  await http.post(`/p/${acme.slug}/storage/buckets`, { name: 'box' });
  const body = new FormData();
  body.append('file', new Blob(['the content']), 'kept.txt');
  fileId = (await http.send('POST', `/p/${acme.slug}/storage/buckets/box/upload`, { body })).body.data.id;
}

/** A client with the current key, because a restore creates new keys. */
async function service(): Promise<HttpClient> {
  const key = (await plinth.admin.get(`/admin/v1/projects/${acme.id}/keys`)).body.service_role_key;
  return new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
}

async function expectWhole(): Promise<void> {
  const http = await service();
  expect((await http.get('/rest/v1/notes?select=count()')).body).toEqual([{ count: 1000 }]);
  const file = await http.get(`/p/${acme.slug}/storage/files/${fileId}/download`);
  expect([file.status, file.text]).toEqual([200, 'the content']);
}

async function removeProjects(): Promise<void> {
  const { body } = await plinth.admin.get('/admin/v1/projects');
  for (const { slug } of body as { slug: string }[]) await run(`plinth project delete ${slug} --yes`);
  await eventually(
    async () => expect((await plinth.admin.get('/admin/v1/projects')).body).toEqual([]),
    60_000,
  );
}

it(
  'backs up one machine, and restores it on another machine',
  async () => {
    const [one, all] = [block('plinth restore acme.tar.gz --dry-run'), block('plinth restore --all install')];
    const http = block('/admin/v1/restore');
    await start('lost');
    await fill();
    expect(await run(part(one, /^plinth restore/, false))).toContain('The backup is intact.');
    expect(await run(part(all, /^plinth restore/, false))).toContain('The backup is intact.');
    expect(await run(block('plinth backup schedule --all'))).toContain('acme');
    await run('plinth backup run --all');
    await eventually(async () => {
      const { body } = await plinth.admin.get('/admin/v1/backups');
      const states = (body.projects as { slug: string; last_status: string }[]).map(
        (state) => state.last_status,
      );
      expect(states).toEqual(states.map(() => 'succeeded'));
    }, 120_000);
    cpSync(join(directory, 'lost/backups'), join(directory, 'backups'), { recursive: true });
    await plinth.end('SIGKILL');
    rmSync(join(directory, 'lost'), { recursive: true, maxRetries: 10, retryDelay: 200 });

    await start('new');
    await run(part(one, /^plinth restore/, true));
    await expectWhole();
    await removeProjects();
    await run(part(all, /^plinth restore/, true));
    await expectWhole();
    await removeProjects();
    await run(block('for project in backups'));
    await expectWhole();
    await run(http.slice(0, http.lastIndexOf('curl')));
    await run(`plinth project delete ${acme.slug} --yes`);
    await run(http.slice(http.lastIndexOf('curl')));
    await expectWhole();
    await run(block('sha256sum -c'));
  },
  LIMIT_MS,
);
