/** A project's own migrations: POST and GET /projects/<id>/migrations, and `plinth migrate`. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { HttpAnswer } from '../../support/http-client';
import { accessOf, asOwner } from '../../support/owner-connection';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let directory: string;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());
beforeEach(async () => {
  project = await plinth.createProject();
  directory = mkdtempSync(join(tmpdir(), 'plinth-migrations-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Migration {
  readonly version: string;
  readonly name: string;
  readonly sql: string;
}

const path = (): string => `/admin/v1/projects/${project.id}/migrations`;
const migration = (version: number, sql: string): Migration => ({ version: `${version}`, name: 'step', sql });
const post = (migrations: Migration[], options: object = {}): Promise<HttpAnswer> =>
  plinth.admin.post(path(), { migrations, ...options });
const versions = async (): Promise<string[]> =>
  (await plinth.admin.get(path())).body.map(({ version }: Migration) => version);
const exists = async (relation: string): Promise<boolean> =>
  (await project.sql(`select to_regclass('${relation}') is not null as found`))[0].found;

const run = (...args: string[]): ReturnType<typeof runUntil> =>
  runUntil(new AbortController().signal, ...args);

async function runUntil(
  interruption: AbortSignal,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      untilInterrupted: () => interruption,
      connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

const write = (name: string, sql: string): string => {
  writeFileSync(join(directory, name), sql);
  return join(directory, name);
};

describe('POST /projects/<id>/migrations', () => {
  it('applies pending migrations once, in order, and records them with checksums', async () => {
    expect((await plinth.admin.get(path())).body).toEqual([]);
    const first = migration(1, 'create table notes (id int primary key)');
    const second = migration(2, 'insert into notes values (1); insert into notes values (2)');
    const { status, body } = await post([first, second]);
    expect([status, body]).toEqual([
      200,
      {
        applied: [first, second].map(({ version, name }) => ({
          version,
          name,
          milliseconds: expect.any(Number),
          notices: [],
        })),
        skipped: [],
        untried: [],
      },
    ]);
    const again = await post([first, second, migration(10, 'insert into notes values (3)')]);
    expect([again.body.applied.length, again.body.skipped]).toEqual([1, ['1', '2']]);
    expect(await project.sql('select count(*)::int as n from notes')).toEqual([{ n: 3 }]);
    const [recorded] = (await plinth.admin.get(path())).body;
    const sha256 = createHash('sha256').update(first.sql).digest('hex');
    expect(recorded).toEqual({ version: '1', name: 'step', sha256, applied_at: expect.any(String) });
    expect(await versions()).toEqual(['1', '2', '10']);
  });

  it('rolls a failed migration back, keeps the migrations before it, and reports line and column', async () => {
    const failing = `create table half ();\n\n-- \u{1f418}\nselect '\u{1f418}', nothing from half`;
    const { status, body } = await post([migration(1, 'create table kept ()'), migration(2, failing)]);
    expect([status, body.error]).toMatchObject([
      400,
      {
        code: '42703',
        migration: { version: '2', name: 'step' },
        database: { location: { line: 4, column: 13 }, position: null },
      },
    ]);
    expect([await exists('kept'), await exists('half'), await versions()]).toEqual([true, false, ['1']]);
  });

  it('reports the position of the statement for an error without a position', async () => {
    const sql = 'create table k (id int primary key);\n  insert into k values (1), (1)';
    expect((await post([migration(1, sql)])).body.error.database.location).toEqual({ line: 2, column: 3 });
  });

  it('reports an error that occurs only at the commit', async () => {
    const sql = `create table a (id int primary key, other int references a deferrable initially deferred);
      insert into a values (1, 2)`;
    for (const options of [{ dry_run: true }, {}]) {
      const { status, body } = await post([migration(1, sql)], options);
      expect([status, body.error.code, body.error.migration.version]).toEqual([400, '23503', '1']);
    }
    expect(await versions()).toEqual([]);
  });

  it('refuses transaction commands in a migration that runs in a transaction, before anything runs', async () => {
    const commands = [
      'begin',
      'start transaction',
      'commit',
      'end',
      'rollback',
      'abort',
      `prepare transaction 'x'`,
      `prepare /* two */ transaction 'x'`,
      '-- a comment\rcommit',
    ];
    for (const command of commands) {
      const { status, body } = await post([
        migration(1, 'create table early ()'),
        migration(2, `select 1;\n${command}`),
      ]);
      const column = 1 + Math.max(0, command.indexOf('commit'));
      expect([command, status, body.error.database.location]).toEqual([command, 400, { line: 2, column }]);
    }
    expect(await exists('early')).toBe(false);
  });

  it.each([
    ['the migration', 'set standard_conforming_strings = off; '],
    ['the database', ''],
  ])(
    'does not run a command hidden in a string with backslash escapes, which %s turns on',
    async (_by, on) => {
      if (on === '')
        await project.sql(`do $$ begin execute format(
        'alter database %I set standard_conforming_strings = off', current_database()); end $$`);
      const hiding = String.raw`${on}create table hidden (); select '\''; commit; select 'x'`;
      for (const options of [{ dry_run: true }, {}]) {
        const { status, body } = await post([migration(1, hiding)], options);
        expect([status, body.error?.code]).toEqual([400, '42601']);
      }
      expect([await exists('hidden'), await versions()]).toEqual([false, []]);
    },
  );

  it('refuses COPY FROM STDIN immediately', async () => {
    const { status, body } = await post([
      migration(1, 'create table filled (n int);\ncopy filled from stdin;\nselect 1'),
    ]);
    expect([status, body.error.code, body.error.database.location]).toEqual([
      400,
      '57014',
      { line: 2, column: 1 },
    ]);
    expect(await exists('filled')).toBe(false);
  });

  it('allows savepoints and the bodies of functions', async () => {
    const sql = `savepoint s; create table gone (); rollback to s; rollback work to savepoint s;
      create function f() returns int begin atomic; select 1; select 2; end;
      create function g() returns int language plpgsql as $$ begin return 1; end $$`;
    expect((await post([migration(1, sql)])).status).toBe(200);
    expect(await project.sql('select f(), g()')).toEqual([{ f: 2, g: 1 }]);
  });

  it('runs statements outside a transaction if the first line says so', async () => {
    const sql = `-- plinth: no-transaction\ncreate table i (a int);\ncreate index concurrently on i (a)`;
    expect((await post([migration(1, sql)])).status).toBe(200);
    expect((await post([migration(2, 'create index concurrently on i (a)')])).body.error.code).toBe('25001');
    expect(await versions()).toEqual(['1']);
  });

  it('repeats a migration without a transaction that failed halfway', async () => {
    const sql = (last: string): string =>
      `-- plinth: no-transaction\ncreate table if not exists w (a int);\ninsert into w values (1);\n${last}`;
    const { body } = await post([migration(1, sql('select nothing'))]);
    expect(body.error.database.location).toEqual({ line: 4, column: 8 });
    expect([await versions(), await exists('w')]).toEqual([[], true]);
    expect((await post([migration(1, sql('select 1'))])).status).toBe(200);
    expect(await project.sql('select count(*)::int as n from w')).toEqual([{ n: 2 }]);
  });

  it('records nothing when a migration leaves its transaction open', async () => {
    const sql = '-- plinth: no-transaction\nbegin; create table left_open ()';
    expect((await post([migration(1, sql)])).status).toBe(400);
    expect([await versions(), await exists('left_open')]).toEqual([[], false]);
  });

  it('runs each migration in a separate session', async () => {
    const { body } = await post([
      migration(1, `set search_path = ''; set role anon`),
      migration(2, 'create table in_public ()'),
    ]);
    expect(body.applied).toHaveLength(2);
    expect(await exists('public.in_public')).toBe(true);
  });

  it('runs the migrations in a dry run and rolls them back', async () => {
    const tried = [
      migration(1, `create table t (a int); set search_path = ''; set role anon`),
      migration(2, 'insert into t values (1)'),
    ];
    const untried = [migration(3, '-- plinth: no-transaction\nvacuum t'), migration(4, 'nonsense')];
    const { status, body } = await post([...tried, ...untried], { dry_run: true });
    expect([status, body.applied.length, body.untried]).toEqual([200, 2, ['3', '4']]);
    expect([await exists('t'), await exists('plinth_migrations.applied')]).toEqual([false, false]);
    const failing = await post([...tried, migration(3, 'nonsense')], { dry_run: true });
    expect([failing.status, failing.body.error.migration.version]).toEqual([400, '3']);
  });

  it('refuses a changed migration and one out of order, and applies nothing', async () => {
    await post([migration(5, 'create table five ()')]);
    const changed = await post([
      migration(5, 'create table five (id int)'),
      migration(6, 'create table six ()'),
    ]);
    expect([changed.status, changed.body.error.code]).toEqual([409, 'migration_changed']);
    const late = await post([migration(4, 'create table four ()'), migration(6, 'create table six ()')]);
    expect([late.status, late.body.error.code]).toEqual([409, 'migration_out_of_order']);
    expect(await versions()).toEqual(['5']);
    expect((await post([migration(4, 'create table four ()')], { out_of_order: true })).status).toBe(200);
    expect(await versions()).toEqual(['4', '5']);
  });

  it('answers 400 for invalid input', async () => {
    const inputs = {
      'a version without digits': [{ version: 'x', name: 'a', sql: '' }],
      'a name with a path': [{ version: '1', name: '../a', sql: '' }],
      'versions in disorder': [migration(2, ''), migration(1, '')],
      'a version twice': [migration(1, ''), { version: '01', name: 'b', sql: '' }],
      'an unknown member': [{ version: '1', name: 'a', sql: '', down: '' }],
    };
    for (const [what, migrations] of Object.entries(inputs)) {
      expect([what, (await post(migrations)).status]).toEqual([what, 400]);
    }
  });

  it('applies each migration once when several runs start together', async () => {
    const migrations = Array.from({ length: 5 }, (_, n) =>
      migration(n + 1, n === 0 ? 'create table c (a int)' : 'insert into c values (1)'),
    );
    const answers = await Promise.all(Array.from({ length: 4 }, () => post(migrations)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const applied = answers.flatMap(({ body }) => body.applied.map(({ version }: Migration) => version));
    expect(applied.sort()).toEqual(['1', '2', '3', '4', '5']);
    expect(await project.sql('select count(*)::int as n from c')).toEqual([{ n: 4 }]);
  });

  it('refuses more than 20,000 statements in one request, before anything runs', async () => {
    const answer = await post([migration(1, 'create table a (id int)'), migration(2, 'a;'.repeat(20_000))]);
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      'The SQL has more than 20000 statements: send it in several requests',
    ]);
    expect(await exists('a')).toBe(false);
  });

  it('waits for another run only as long as the request says', async () => {
    const access = await accessOf(plinth, project.id);
    await asOwner(access, async (client) => {
      await client.query(`select pg_advisory_lock(hashtextextended('plinth_migrations', 0))`);
      const { status, body } = await post([migration(1, 'create table w ()')], { lock_timeout_seconds: 1 });
      expect([status, body.error.code]).toEqual([409, 'migrations_locked']);
    });
    expect((await post([migration(1, 'create table w ()')])).status).toBe(200);
  });

  it('ends a migration at its time limit, whatever timeouts it sets', async () => {
    const sql = `set local statement_timeout = 0; create table s (); select pg_sleep(60)`;
    const { status, body } = await post([migration(1, sql)], { timeout_seconds: 1 });
    expect([status, body.error.code]).toEqual([400, '57014']);
    await eventually(async () => expect(await exists('s')).toBe(false));
  });

  it('rolls back a migration whose session ends in the middle', async () => {
    const access = await accessOf(plinth, project.id);
    const pending = post([migration(1, 'create table m (); select pg_sleep(60)')]);
    await asOwner(access, (client) =>
      eventually(async () => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and query = 'select pg_sleep(60)' and pid <> pg_backend_pid()`,
        );
        expect(rowCount).toBe(1);
      }),
    );
    expect((await pending).status).toBe(503);
    expect([await versions(), await exists('m')]).toEqual([[], false]);
  });

  it('is written to the audit log without the SQL', async () => {
    await post([migration(1, `select 'canary'`)]);
    await post([migration(2, 'nonsense')]);
    const log = await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&action=project.migrate`);
    expect(log.body.map(({ details }) => details)).toEqual([
      { version: '2', name: 'step', sha256: expect.any(String), failed: '42601' },
      { version: '1', name: 'step', sha256: expect.any(String) },
    ]);
    expect(log.text).not.toContain('canary');
  });
});

/** Waits until a session of the project's database runs this statement. @returns its application_name */
async function running(query: string): Promise<string> {
  const activity = `/admin/v1/projects/${project.id}/database/activity`;
  let application = '';
  await eventually(async () => {
    const { sessions } = (await plinth.admin.get(activity)).body;
    const found = sessions.find((one: { query: string | null }) => one.query === query);
    expect(found).toBeDefined();
    application = found.application;
  });
  return application;
}

const SLEEP = 'select pg_sleep(60)';
const sleeps = (): Promise<Record<string, unknown>[]> =>
  project.sql(`select pid from pg_stat_activity
    where datname = current_database() and query = '${SLEEP}' and state = 'active'`);

describe('a client that disconnects', () => {
  it('cancels a dry run', async () => {
    const file = write('1_a.sql', `create table d ();\n${SLEEP}`);
    const interruption = new AbortController();
    const ended = runUntil(interruption.signal, 'migrate', project.slug, directory, '--dry-run');
    expect(await running(SLEEP)).toBe('plinth-migrate');
    interruption.abort();
    expect(await ended).toEqual({ code: 1, out: '', err: 'Interrupted: nothing was applied.\n' });
    await eventually(async () => expect(await sleeps()).toEqual([]));
    writeFileSync(file, 'create table d ()');
    expect((await run('migrate', project.slug, directory, '--lock-timeout', '5')).code).toBe(0);
  });

  it('lets the server complete the migration in progress and start no other', async () => {
    const first = write('1_a.sql', `create table d ();\n${SLEEP}`);
    const interruption = new AbortController();
    const ended = runUntil(interruption.signal, 'migrate', project.slug, directory);
    await running(SLEEP);
    const waiting = new AbortController();
    const second = runUntil(waiting.signal, 'migrate', project.slug, directory);
    await running(`select pg_advisory_lock(hashtextextended('plinth_migrations', 0))`);
    interruption.abort();
    const { code, err } = await ended;
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`if the server has begun ${first}, it completes`),
    ]);
    waiting.abort();
    await second;
    const locked = await run('migrate', project.slug, directory, '--lock-timeout', '1');
    expect([locked.code, locked.err]).toEqual([
      1,
      expect.stringMatching(/did not end within 1 s.*plinth-migrate/),
    ]);
    const [{ pid }] = (await sleeps()) as [{ pid: number }];
    await plinth.admin.post(`/admin/v1/projects/${project.id}/database/activity/${pid}/cancel`);
    await eventually(async () => expect(await sleeps()).toEqual([]));
    expect([await exists('d'), await versions()]).toEqual([false, []]);
    writeFileSync(first, 'create table d ()');
    expect((await run('migrate', project.slug, directory)).code).toBe(0);
  });
});

describe('the schema of the record', () => {
  it('is not exposed by table REST, whatever the owner grants', async () => {
    await post([migration(1, 'select 1')]);
    await project.sql(`grant usage on schema plinth_migrations to anon, service_role;
      grant all on plinth_migrations.applied to anon, service_role`);
    const settings = { exposed_schemas: ['public', 'plinth_migrations'] };
    expect((await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings })).status).toBe(400);
    for (const client of [project.anon, project.service]) {
      for (const address of ['/rest/v1/plinth_migrations.applied', '/rest/v1/applied']) {
        const headers = { 'Accept-Profile': 'plinth_migrations' };
        expect((await client.get(address)).status).toBe(404);
        expect([404, 406]).toContain((await client.get(address, { headers })).status);
      }
    }
    const tables = (await plinth.admin.get(`/admin/v1/projects/${project.id}/tables`)).body;
    expect(tables.map(({ schema }) => schema)).not.toContain('plinth_migrations');
  });

  it.each([
    ['drops', 'drop schema plinth_migrations cascade', 200],
    [
      'fills with invalid values',
      `alter table plinth_migrations.applied alter version type text using 'x'`,
      500,
    ],
    ['gives a very wide row', `update plinth_migrations.applied set name = repeat('x', 20000000)`, 500],
  ])('may be a table that the owner %s', async (_what, sql, status) => {
    await post([migration(1, 'select 1')]);
    await project.sql(sql);
    expect((await plinth.admin.get(path())).status).toBe(status);
  });

  it('gets no entry if the owner role is read-only, and the response says so', async () => {
    await project.sql(`do $$ begin
      execute format('alter role %I set default_transaction_read_only to on', current_user); end $$`);
    const answer = await post([migration(1, 'select 1')]);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.objectContaining({ code: '25006', migration: { version: '1', name: 'step' } }),
    ]);
    expect(await versions()).toEqual([]);
  });

  it('is read whatever format of dates the owner prefers', async () => {
    await post([migration(1, 'select 1')]);
    const applied = (await plinth.admin.get(path())).body;
    await project.sql(
      `do $$ begin execute format('alter role %I set datestyle to ''SQL, DMY''', current_user); end $$`,
    );
    expect((await plinth.admin.get(path())).body).toEqual(applied);
    expect((await post([migration(1, 'select 1'), migration(2, 'select 2')])).status).toBe(200);
  });
});

describe('plinth migrate', () => {
  it('applies a directory, prints what it applied, and then has nothing to apply', async () => {
    write('001_notes.sql', 'create table notes (id int)');
    write('002_more.sql', `do $$ begin raise notice 'seen'; end $$`);
    write('README.md', 'no migration');
    const first = await run('migrate', project.slug, directory);
    expect([first.code, first.out]).toEqual([0, 'Applied 2 migrations.\n']);
    expect(first.err).toMatch(/^applied 001_notes \(\d+ ms\)\n.*002_more\.sql: seen\napplied 002_more/);
    expect(await run('migrate', 'up', project.slug, directory)).toEqual({
      code: 0,
      out: 'Nothing to apply.\n',
      err: '',
    });
  });

  it('prints file, line and column of an error', async () => {
    const file = write('1_wrong.sql', 'create table a ();\nselect nothing');
    expect(await run('migrate', project.slug, directory)).toEqual({
      code: 1,
      out: '',
      err: `${file}:2:8: column "nothing" does not exist\n`,
    });
    const { out } = await run('--json', 'migrate', project.slug, directory);
    expect(JSON.parse(out).error.database.location).toEqual({ line: 2, column: 8 });
  });

  it('shows the state of each migration', async () => {
    const [a, b] = [write('1_a.sql', 'select 1'), write('2_b.sql', 'select 2')];
    await run('migrate', project.slug, directory);
    write('3_c.sql', 'select 3');
    const status = async (): Promise<[number, string[]]> => {
      const { code, out } = await run('migrate', 'status', project.slug, directory);
      return [
        code,
        out
          .split('\n')
          .slice(2, -1)
          .map((line) =>
            line
              .trim()
              .replace(/ +\d{4}-\S+$/, '')
              .replace(/ +/g, ' '),
          ),
      ];
    };
    expect(await status()).toEqual([0, ['1 a applied', '2 b applied', '3 c pending']]);
    writeFileSync(a, 'select 10');
    rmSync(b);
    write('0_z.sql', 'select 0');
    expect(await status()).toEqual([1, ['0 z out of order', '1 a changed', '3 c pending', '2 b missing']]);
    const refused = await run('migrate', project.slug, directory);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('0_z.sql')]);
    const { err } = await run('migrate', project.slug, directory, '--out-of-order');
    expect(err).toContain('1_a.sql: the file was changed');
    writeFileSync(a, 'select 1');
    expect((await run('migrate', project.slug, directory, '--out-of-order')).err).toContain(
      '--ignore-missing',
    );
    const { code } = await run('migrate', project.slug, directory, '--out-of-order', '--ignore-missing');
    expect([code, await versions()]).toEqual([0, ['0', '1', '2', '3']]);
  });

  it('ignores Windows line endings in checksums', async () => {
    const file = write('1_a.sql', 'select 1;\nselect 2;\n');
    await run('migrate', project.slug, directory);
    writeFileSync(file, '\ufeffselect 1;\r\nselect 2;\r\n');
    expect((await run('migrate', project.slug, directory)).out).toBe('Nothing to apply.\n');
  });

  it('makes a dry run', async () => {
    write('1_a.sql', 'create table a ()');
    write('2_b.sql', '-- plinth: no-transaction\nvacuum a');
    expect(await run('migrate', project.slug, directory, '--dry-run')).toEqual({
      code: 0,
      out: 'would apply 1_a\nNot tried, because a dry run stops before the first migration without a transaction: 2\n',
      err: '',
    });
    expect(await versions()).toEqual([]);
  });

  it('refuses a file with a wrong name instead of leaving it out', async () => {
    for (const name of ['notes.sql', '1-a.sql', '1_a.down.sql', `${'1'.repeat(19)}_a.sql`]) {
      const file = write(name, 'select 1');
      const { code, err } = await run('migrate', project.slug, directory);
      expect([code, err]).toEqual([2, expect.stringContaining(name)]);
      rmSync(file);
    }
  });

  it('refuses two files with the same version', async () => {
    write('1_a.sql', '');
    write('01_b.sql', '');
    expect((await run('migrate', project.slug, directory)).code).toBe(2);
  });

  it('creates files in order, also in a new directory', async () => {
    const folder = join(directory, 'new');
    for (const words of [['Create', 'notes'], ['and: more!']]) {
      const { code, out } = await run('migrate', 'new', folder, ...words);
      expect([code, out]).toEqual([0, expect.stringMatching(/\/\d{14}_\w+\.sql\n$/)]);
    }
    const names = readdirSync(folder).sort();
    expect(names.map((name) => name.replace(/^\d+/, ''))).toEqual(['_create_notes.sql', '_and_more.sql']);
    expect(readFileSync(join(folder, names[0] as string), 'utf8')).toMatch(/^-- Runs in a transaction/);
    expect((await run('migrate', project.slug, folder)).code).toBe(0);
    expect((await run('migrate', 'new', folder, '!!')).code).toBe(2);
  });
});
