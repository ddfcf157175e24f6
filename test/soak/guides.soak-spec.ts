/**
 * Guides whose commands take long: migrations from other databases, migrations in CI, the production checklist,
 * runbooks.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  client,
  createProject,
  done,
  expectNotesApp,
  expectProxied,
  Guide,
  hashOf,
  keys,
  LIMIT_MS,
  PASSWORD,
  plinth,
  sql,
  startForGuides,
  useProject,
} from '../process/support/guides';
import { ROOT } from '../process/support/processes';
import { hasBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { freePort } from '../support/plinth-process';
import { SUPABASE_LAYOUT } from '../support/supabase-layout';
import { installedMajors, SystemPostgres } from '../support/system-postgres';

startForGuides();

it(
  'migrations-in-ci.md: a migration is created, tried, applied and compared',
  async () => {
    await createProject('acme');
    const guide = new Guide('migrations-in-ci');
    const file = /db\/\S+\.sql/.exec(await guide.run('migrate new db'))?.[0] ?? '';
    writeFileSync(join(guide.folder, file), guide.texts('sql')[0]!);
    await guide.run('plinth migrate status acme db\n', {});
    expect(await guide.shell('plinth migrate status acme db')).toContain('applied');
    const env = { BACKUP_PASSPHRASE: 'a long passphrase that is kept elsewhere' };
    await guide.run('plinth gen types acme', env);
    expect(readFileSync(join(guide.folder, 'database.ts'), 'utf8')).toContain('tasks: {');
  },
  LIMIT_MS,
);

it(
  'production.md: its commands run',
  async () => {
    await createProject('checked');
    const guide = new Guide('production');
    const said = await guide.shell(`${guide.texts('sh')[0]!.trim()} || true`);
    expect(said).toMatch(/^ok +database /m);
    const page = readFileSync(join(ROOT, 'docs/guides/production.md'), 'utf8');
    const commands = [...page.matchAll(/\| `(plinth [^`]+)` \|/g)].map(([, command = '']) => command);
    // The guides that the page links have the other commands.
    const quick = [...new Set(commands)].filter((command) => !/ (db diff|token) /.test(command));
    expect(quick.length).toBeGreaterThan(4);
    await guide.shell(quick.join('\n').replaceAll('<project>', 'checked'));
  },
  LIMIT_MS,
);

(hasBrowser ? it : it.skip)(
  'vue.md: the app is created with the packages of the registry, built, and keeps a note (needs the npm registry)',
  async () => {
    const id = await createProject('acme-vue');
    const [, notes = ''] =
      /project sql acme "([^"]*)"/.exec(new Guide('first-project').texts('sh')[0]!) ?? [];
    await sql(id, notes);
    const guide = new Guide('vue');
    const env = { npm_config_yes: 'true' };
    await guide.run('npm create vite@latest', env);
    const app = join(guide.folder, 'notes-app');
    const ofReact = new Guide('react').blocks.filter(({ file }) =>
      /^(\.env\.local|src\/plinth\.js)$/.test(file ?? ''),
    );
    guide.writeFiles(app, ofReact);
    const settings = readFileSync(join(app, '.env.local'), 'utf8');
    writeFileSync(join(app, '.env.local'), settings.replace('/p/acme', '/p/acme-vue'));
    await guide.shell('cd notes-app && npm run build', env);
    await expectNotesApp(join(app, 'dist'), 'vue@example.com');
  },
  2 * LIMIT_MS,
);

const hasCaddy = spawnSync('caddy', ['version']).status === 0;

(hasCaddy ? it : it.skip)(
  'nginx-caddy-tls.md: requests, uploads, sockets and event streams pass through Caddy (needs caddy)',
  async () => {
    const guide = new Guide('nginx-caddy-tls');
    const [port, http] = [await freePort(), await freePort()];
    // Caddy signs the certificate, because no authority reaches this machine.
    const settings = `{\n admin off\n local_certs\n skip_install_trust\n https_port ${port}\n http_port ${http}\n}\n`;
    const page = guide.texts('caddyfile')[0]!.replace('127.0.0.1:8080', new URL(plinth.baseUrl).host);
    writeFileSync(join(guide.folder, 'Caddyfile'), settings + page);
    const env = {
      ...process.env,
      HOME: guide.folder,
      XDG_DATA_HOME: guide.folder,
      XDG_CONFIG_HOME: guide.folder,
    };
    const caddy = spawn('caddy', ['run', '--config', 'Caddyfile'], {
      cwd: guide.folder,
      env,
      stdio: 'ignore',
    });
    try {
      const answer = `curl -sk --resolve plinth.example.com:${port}:127.0.0.1 https://plinth.example.com:${port}/health/live`;
      await eventually(async () => void (await guide.shell(answer)), LIMIT_MS / 2);
      await expectProxied(guide, 'behind-caddy', port);
      const moved = await guide.shell(
        `curl -sI -H 'Host: plinth.example.com' http://127.0.0.1:${http}/x?y=1`,
      );
      expect(moved).toMatch(/^HTTP\/1.1 308[^]*location: https:\/\/plinth.example.com\/x\?y=1/i);
      const compose = { ...env, DOMAIN: 'plinth.example.com' };
      execFileSync('caddy', ['validate', '--config', join(ROOT, 'docker/Caddyfile')], {
        env: compose,
        stdio: 'ignore',
      });
    } finally {
      caddy.kill('SIGKILL');
    }
  },
  LIMIT_MS,
);

const BACKUP_PASSPHRASE = 'a long passphrase that is kept elsewhere';

it(
  'upgrades.md and operations.md: a backup before an upgrade, limits, leaked keys, a lost machine',
  async () => {
    await createProject('acme');
    const operations = new Guide('operations');
    const upgrades = new Guide('upgrades');
    expect(await upgrades.run('before.tar.gz', { BACKUP_PASSPHRASE })).toContain('The backup is intact.');
    await upgrades.shell('plinth upgrade');

    const former = keys.service;
    const status = async (key: string): Promise<number> =>
      (
        await fetch(`${plinth.baseUrl}/rest/v1/`, {
          headers: { apikey: key, authorization: `Bearer ${key}` },
        })
      ).status;
    await operations.run('requests_per_second=100');
    expect(await status(former)).toBe(503);
    await operations.shell('plinth project resume acme');
    expect(await status(former)).toBe(200);
    expect(await operations.run('rotate-keys')).toContain('service_role');
    expect(await status(former)).toBe(401);
    await useProject('acme');
    expect(await status(keys.service)).toBe(200);

    await operations.shell('plinth backup --all -o install.tar.gz', { BACKUP_PASSPHRASE });
    const { body: projects } = await plinth.admin.get('/admin/v1/projects');
    for (const { slug } of projects as { slug: string }[])
      await operations.shell(`plinth project delete ${slug} --yes`);
    await eventually(
      async () => expect((await plinth.admin.get('/admin/v1/projects')).body).toEqual([]),
      LIMIT_MS,
    );
    // The first start of the new machine creates the data directory.
    await createProject('demo');
    expect(await operations.run('plinth audit verify', { BACKUP_PASSPHRASE })).toMatch(/^ok +database /m);
    expect(await status(keys.service)).toBe(401);
    await useProject('acme');
    expect(await status(keys.service)).toBe(200);

    const page = readFileSync(join(ROOT, 'docs/guides/operations.md'), 'utf8').split(
      'Runbooks for alerts',
    )[1]!;
    const commands = [...page.matchAll(/`(plinth [^`<]+)`/g)].map(([, command = '']) => command);
    // These commands need schedules and a passphrase of the server.
    const quick = [...new Set(commands)].filter((command) => !/backup run( |$)/.test(command));
    expect(quick.length).toBeGreaterThan(3);
    await operations.shell(quick.join('\n'));
  },
  3 * LIMIT_MS,
);

it(
  'operations.md: a full PostgreSQL server gets a second one, and another address',
  async () => {
    await createProject('busy');
    const servers = await Promise.all([1, 2].map(() => SystemPostgres.start('embedded')));
    const [second, third] = servers as [SystemPostgres, SystemPostgres];
    const guide = new Guide('operations');
    const blocks = (part: string): string => guide.texts('sh').find((text) => text.includes(part))!;
    const at = ({ url }: SystemPostgres, text: string, host: string): string =>
      text.replace(`postgres://plinth:secret@${host}.example.com/postgres`, url);
    try {
      await guide.shell('echo "$DB2" | plinth server add db2', {
        DB2: second.url,
      });
      await guide.shell('plinth project move busy --server db2');
      const full = at(third, blocks('server drain'), 'db3').replace('move acme', 'move busy');
      await guide.shell(full);
      expect(await guide.shell('plinth project show busy')).toMatch(/^server +db3$/m);
      const { port, password } = new URL(second.url);
      const activity = blocks('pg_stat_activity').replace('db2.example.com', `127.0.0.1 -p ${port}`);
      expect(await guide.shell(activity, { PGPASSWORD: password })).toContain('plinth');
      const renamed = at(second, blocks('server update db --url'), 'db2').replace(
        'update db ',
        'update db2 ',
      );
      expect(await guide.shell(renamed)).toContain('db2');
      await guide.shell('plinth project delete busy --yes');
      for (const name of ['db2', 'db3'])
        await eventually(async () => void (await guide.shell(`plinth server remove ${name}`)), LIMIT_MS);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
  3 * LIMIT_MS,
);

/** A version below the embedded one, because pg_dump must not be older than its server. */
const major = installedMajors(18).at(-1);

(major === undefined ? describe.skip : describe)('other databases', () => {
  let old: SystemPostgres;
  beforeAll(async () => (old = await SystemPostgres.start(major!)), LIMIT_MS);
  afterAll(() => old.stop());

  /** A database on the old server. @returns its address */
  async function oldDatabase(guide: Guide, name: string, schema: string): Promise<string> {
    const url = old.url.replace(/postgres$/, name);
    await guide.shell(
      `psql -q '${old.url}' -c 'create database ${name}'; psql -q '${url}' <<'EOF'\n${schema}\nEOF`,
    );
    return url;
  }

  it(
    'from-postgresql.md: tables, rows and users of another database are migrated',
    async () => {
      const guide = new Guide('from-postgresql');
      const OLD = await oldDatabase(guide, 'plain', OLD_SHOP);
      const copy = guide.texts('sh').find((text) => text.includes('pg_dump'))!;
      await guide.shell(copy, { OLD });
      const [assignment = ''] = /^NEW=.*$/m.exec(copy) ?? [];
      const counts = await guide.shell(`${assignment}\n${guide.texts('sh').at(-1)!}`, { OLD });
      expect(counts).toBe('2|30.5\n2|30.5\n');
      await useProject('shop');
      guide.writeFiles();
      guide.linkPackages();
      expect(await guide.run('node users.mjs')).toContain('2 users');
      await guide.run('create policy');
      expect(await guide.run('plinth project tables')).toMatch(/orders +true/);
      const ada = client('shop', keys.anon);
      await done(ada.auth.signInWithPassword({ email: 'ada@example.com', password: PASSWORD }));
      expect(await done(ada.from('orders').select('total'))).toEqual([{ total: 10.5 }]);
      await guide.shell('plinth project delete shop --yes');
    },
    LIMIT_MS,
  );

  it(
    'several-servers.md: a server is added, gets a project, and is drained',
    async () => {
      const guide = new Guide('several-servers');
      expect(await guide.run('server add', { DB2_URL: old.url })).toMatch(/^db2 .*open/m);
      expect(await guide.run('project create')).toMatch(/^server +db2$/m);
      expect(await guide.run('server drain')).toMatch(/draining/);
      await guide.shell('plinth project delete reports --yes');
      await eventually(async () => void (await guide.shell('plinth server remove db2')), LIMIT_MS);
    },
    LIMIT_MS,
  );

  it(
    'from-supabase.md: users keep ids and passwords, policies hold, and files are copied',
    async () => {
      await createProject('old-files');
      const bucket = client('old-files', keys.service).storage;
      await done(bucket.createBucket('papers', { public: true }));
      await done(bucket.from('papers').upload('2026/a.txt', 'the paper', { contentType: 'text/plain' }));
      const guide = new Guide('from-supabase');
      const OLD = await oldDatabase(guide, 'supabase', OLD_SUPABASE);
      expect(await guide.run('--dry-run', { OLD })).toMatch(/edge functions/);
      writeFileSync(join(guide.folder, 'old-key'), keys.service);
      await useProject('shop');
      const command = guide
        .texts('sh')
        .at(-1)!
        .replace('https://old.supabase.co', `${plinth.baseUrl}/p/old-files`);
      expect(await guide.shell(command, { OLD })).toMatch(/orders +true/);
      const ada = client('shop', keys.anon);
      const { user } = await done(
        ada.auth.signInWithPassword({ email: 'ada@example.com', password: PASSWORD }),
      );
      expect(user).toMatchObject({ id: ADA_ID, user_metadata: { name: 'Ada' } });
      expect(await done(ada.from('orders').select('total'))).toEqual([{ total: 10.5 }]);
      expect(await done(client('shop', keys.anon).from('orders').select())).toEqual([]);
      const paper = await fetch(ada.storage.from('papers').getPublicUrl('2026/a.txt').data.publicUrl);
      expect(paper.headers.get('content-type')).toContain('text/plain');
      expect(await paper.text()).toBe('the paper');
    },
    LIMIT_MS,
  );
});

const ADA_ID = '7d3f8a52-0d5c-4b0e-9a57-0c3a6f2b9d11';

const OLD_SUPABASE = `
  do $$ begin
    create role anon; create role authenticated; create role service_role;
  end $$;
  ${SUPABASE_LAYOUT}
  insert into auth.users (id, email, encrypted_password, email_confirmed_at, raw_user_meta_data, raw_app_meta_data)
    values ('${ADA_ID}', 'ada@example.com', '${hashOf(PASSWORD)}', now(), '{"name": "Ada"}',
      '{"provider": "email", "providers": ["email"]}');
  create table orders (id bigint generated always as identity primary key,
    user_id uuid not null default auth.uid() references auth.users on delete cascade, total numeric not null);
  alter table orders enable row level security;
  create policy own on orders to authenticated using (user_id = (select auth.uid()));
  insert into orders (user_id, total) values ('${ADA_ID}', 10.5);
  insert into storage.buckets (id, name, public) values ('papers', 'papers', true);
  insert into storage.objects (bucket_id, name, metadata) values
    ('papers', '2026/a.txt', '{"size": 9, "mimetype": "text/plain"}');`;

const OLD_SHOP = `
  create table customers (id bigint generated always as identity primary key, email text, password_hash text);
  create table orders (id bigint generated always as identity primary key,
    customer_id bigint not null references customers, total numeric not null);
  insert into customers (email, password_hash) values ('ada@example.com', '${hashOf(PASSWORD)}'), ('bob@example.com', null);
  insert into orders (customer_id, total) values (1, 10.5), (2, 20)`;
