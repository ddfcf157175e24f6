/** `plinth backup`, `plinth backup verify` and `plinth restore`, against a running server. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { HAS_ZSTD } from '../../../src/config/compression';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { AGE_IDENTITY, AGE_RECIPIENT, PASSPHRASE, restore } from '../../support/backups';
import { eventually } from '../../support/eventually';
import { IN_SOAK } from '../../support/extent';
import { asSuperuser } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-backup-cli-'));
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql('create table notes as select 1 as n');
});
afterAll(async () => {
  await plinth.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Surroundings {
  readonly passphrase?: string | null;
  readonly stdin?: Buffer;
  readonly stdout?: PassThrough;
  readonly isTerminal?: boolean;
}

async function run(
  args: string[],
  { passphrase = PASSPHRASE, stdin, stdout = new PassThrough(), isTerminal = false }: Surroundings = {},
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      passphrase: () => passphrase,
      stdin: Readable.from(stdin ? [stdin] : []),
      stdout,
      isTerminal,
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

it('backs up to a file, verifies it and restores it', async () => {
  const file = join(directory, 'a.tar.gz');
  const made = await run(['backup', project.slug, '-o', file]);
  expect([made.code, made.err.replace(/^Backing up .*\n/gm, '')]).toEqual([0, '']);
  expect(made.out).toMatch(/a\.tar\.gz \([\d.]+ KiB\)\n$/);
  expect(readdirSync(directory)).toEqual(['a.tar.gz']);

  for (const passphrase of [PASSPHRASE, null]) {
    const verified = await run(['backup', 'verify', file], { passphrase });
    expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/^The backup is intact\.$/m)]);
  }
  expect((await run(['restore', file])).code).toBe(1);
  const rehearsed = await run(['restore', file, '--as', 'rehearsed', '--dry-run', '--json']);
  expect([rehearsed.code, JSON.parse(rehearsed.out)]).toEqual([
    0,
    expect.objectContaining({ dry_run: true }),
  ]);
  const copied = await run(['restore', file, '--as', 'cli-copy', '--json'], { isTerminal: true });
  expect([copied.code, JSON.parse(copied.out)]).toEqual([
    0,
    expect.objectContaining({ slug: 'cli-copy', same_id: false }),
  ]);
}, 60_000);

it.each([
  ['a.tar', true],
  ['a.tar.zst', HAS_ZSTD],
] as const)(
  'compresses as the file name %s requires, and restores the archive',
  async (name, isAvailable) => {
    const file = join(directory, name);
    const made = await run(['backup', project.slug, '-o', file]);
    if (!isAvailable) {
      expect([made.code, made.err]).toEqual([1, expect.stringContaining('zstd needs Node.js 22.15')]);
      return;
    }
    // The command prints its progress on a slow machine.
    expect([made.code, made.err.replace(/^Backing up .*\n/gm, '')]).toEqual([0, '']);
    expect(readFileSync(file).subarray(257, 262).toString() === 'ustar').toBe(name === 'a.tar');
    const slug = name.replaceAll('.', '-');
    expect((await run(['backup', 'verify', file])).code).toBe(0);
    expect((await run(['restore', file, '--as', slug])).code).toBe(0);
    const all = join(directory, `all-${name}`);
    expect((await run(['backup', '--all', '-o', all])).code).toBe(0);
    const tar = execFileSync('tar', ['-tf', all], { encoding: 'utf8' });
    expect(tar).toContain(`projects/${slug}${name.slice(1)}`);
    expect((await run(['project', 'delete', slug, '--yes'])).code).toBe(0);
    const restored = await run(['restore', '--all', all]);
    expect(restored.out).toMatch(new RegExp(`^${slug} +restored`, 'm'));
    expect((await run(['project', 'delete', slug, '--yes'])).code).toBe(0);
    rmSync(file);
    rmSync(all);
  },
  180_000,
);

it('writes to standard output and reads from standard input, with a passphrase from a file', async () => {
  const secret = join(directory, 'passphrase');
  writeFileSync(secret, `${PASSPHRASE}\n`);
  const stdout = new PassThrough();
  const archive = buffer(stdout);
  const options = { passphrase: null, stdout };
  const made = await run(['backup', project.id, '-o', '-', '--passphrase-file', secret], options);
  stdout.end();
  expect([made.code, made.out]).toEqual([0, '']);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  const stdin = await archive;
  const restored = await run(['restore', '-', '--passphrase-file', secret, '--json'], {
    passphrase: null,
    stdin,
  });
  expect([restored.code, JSON.parse(restored.out)]).toEqual([
    0,
    expect.objectContaining({ id: project.id, same_id: true }),
  ]);
  expect(await project.sql('select n from notes')).toEqual([{ n: 1 }]);
}, 60_000);

it('shows a bar on a terminal', async () => {
  const file = join(directory, 'bar.tar.gz');
  const made = await run(['backup', project.slug, '-o', file], { isTerminal: true });
  expect(made.err).toMatch(/\rBacking up \S+ {2}[\d.]+ KiB *\n$/);
  const verified = await run(['backup', 'verify', file], { isTerminal: true });
  expect(verified.err).toMatch(/\[#{30}\] 100 %/);
});

it.each<[string, string[], Surroundings, number, RegExp]>([
  ['without a passphrase', ['backup', 'SLUG'], { passphrase: null }, 2, /needs a passphrase/],
  ['of an unknown project', ['backup', 'unknown'], {}, 3, /no such project/],
  ['of a file that is missing', ['restore', 'missing.tar.gz'], {}, 1, /missing.tar.gz cannot be read/],
  ['of a directory', ['restore', 'DIRECTORY'], {}, 1, /EISDIR/],
  ['of a damaged file', ['backup', 'verify', 'DAMAGED'], {}, 1, /not an intact backup/],
])('fails %s and leaves no file', async (_what, args, surroundings, code, message) => {
  const damaged = join(directory, 'damaged.tar.gz');
  writeFileSync(damaged, readFileSync(join(directory, 'bar.tar.gz')).subarray(0, 2_000));
  const before = readdirSync(directory);
  const given = args.map((arg) =>
    arg.replace('SLUG', project.slug).replace('DAMAGED', damaged).replace('DIRECTORY', directory),
  );
  const failed = await run(given, surroundings);
  expect([failed.code, failed.err]).toEqual([code, expect.stringMatching(message)]);
  expect(readdirSync(directory)).toEqual(before);
});

it('refuses a schedule while the server has no passphrase', async () => {
  const refused = await plinth.admin.put('/admin/v1/backups/schedule', {});
  expect([refused.status, refused.body.error.code]).toEqual([400, 'backup_not_configured']);
});

describe('an archive with a wrong byte, or without its end', () => {
  const OTHERS = IN_SOAK ? 60 : 9;
  let whole: Buffer;
  let file: string;
  beforeAll(async () => {
    file = join(directory, 'wrong.tar.gz');
    await project.sql(`create table if not exists many as
      select n, md5(n::text) || md5((n * 7)::text) as text from generate_series(1, 20000) n`);
    await run(['backup', project.slug, '-o', file]);
    whole = readFileSync(file);
    await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
  }, 60_000);

  /** Skips the header of a gzip member, because its times and flags have no effect. */
  const behindHeader = (at: number): number => {
    const header = whole.lastIndexOf(Buffer.from([0x1f, 0x8b, 8]), at);
    return header >= 0 && at - header < 10 ? header + 10 : at;
  };

  /**
   * Archives with a wrong byte, spread over the archive and denser at its beginning and end, where its description is.
   */
  const archives = (): Buffer[] =>
    Array.from({ length: OTHERS }, (_, n) => {
      const part = n % 3;
      const within = Math.floor((Math.floor(n / 3) / (OTHERS / 3)) * (part === 0 ? whole.length : 3_000));
      const at = behindHeader(part === 2 ? whole.length - 1 - within : within);
      if (n % 2 === 1) return whole.subarray(0, at);
      const flipped = Buffer.from(whole);
      // Flips the lowest bit, because the other bits of the last byte of a compressed member can be padding.
      flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
      return flipped;
    });

  /** Databases, roles and files of the project. */
  const traces = async (): Promise<string[]> => {
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query<{ name: string }>(
        `select datname as name from pg_database where strpos(datname, $1) > 0
         union all select rolname from pg_roles where strpos(rolname, $1) > 0`,
        [project.id],
      ),
    );
    const folder = join(plinth.dataDir, 'files');
    const files = readdirSync(folder, { recursive: true }).filter((name) => name.includes(project.id));
    return [...rows.map(({ name }) => name), ...files.map(String)];
  };

  it('is refused by verify and restore with a message of one line, and leaves nothing behind', async () => {
    const LINE = /^[^\n]*(not an intact backup|passphrase does not open|is not supported)[^\n]*\n$/;
    // PostgreSQL can read the wrong byte before the checksum at the end of the member is checked.
    const RESTORE_LINE = new RegExp(
      `${LINE.source}|^Restoring \\S+ failed, and everything was undone: [^\\n]*\\n$`,
    );
    for (const [n, archive] of archives().entries()) {
      writeFileSync(file, archive);
      for (const passphrase of [PASSPHRASE, null]) {
        const verified = await run(['backup', 'verify', file], { passphrase });
        expect([n, verified.code, verified.err]).toEqual([n, 1, expect.stringMatching(LINE)]);
      }
      const restored = await run(['restore', file]);
      expect([n, restored.code, restored.err]).toEqual([n, 1, expect.stringMatching(RESTORE_LINE)]);
    }
    expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
    await eventually(async () => expect(await traces()).toEqual([]), 30_000);
    writeFileSync(file, whole);
    expect((await run(['restore', file])).code).toBe(0);
  }, 240_000);
});

it('encrypts an archive as a whole for keys of age', async () => {
  const identity = join(directory, 'identity.txt');
  writeFileSync(identity, `${AGE_IDENTITY}\n`);
  for (const [subject, ...options] of [
    [project.slug, '--as', 'opened'],
    ['--all', '--new-keys'],
  ] as const) {
    const file = join(directory, 'whole.tar.age');
    const made = await run(['backup', subject, '-o', file, '--recipient', AGE_RECIPIENT]);
    expect([made.code, readFileSync(file).includes('header.json')]).toEqual([0, false]);
    const all = subject === '--all' ? ['--all'] : [];
    const refused = await run(['restore', file, '--dry-run', ...all, ...options]);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--identity-file')]);
    expect((await run(['backup', 'verify', file, '--identity-file', identity])).code).toBe(0);
    const restored = await run([
      'restore',
      file,
      '--dry-run',
      ...all,
      ...options,
      '--identity-file',
      identity,
    ]);
    // The slug exists, so the dry run only reads the archive.
    expect([restored.code, restored.err]).toEqual(
      subject === '--all'
        ? [1, expect.stringContaining('projects were not restored')]
        : [0, expect.any(String)],
    );
  }
  // Over HTTP, the server refuses such an archive.
  const body = readFileSync(join(directory, 'whole.tar.age'));
  expect((await restore(plinth, body)).body).toMatchObject({ error: { code: 'backup_not_supported' } });
});
