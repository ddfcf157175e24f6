/** Guides whose commands take long: moves from other databases, migrations in CI, the production checklist. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  client,
  createProject,
  done,
  Guide,
  hashOf,
  keys,
  LIMIT_MS,
  PASSWORD,
  plinth,
  startForGuides,
  useProject,
} from '../process/support/guides';
import { ROOT } from '../process/support/processes';
import { eventually } from '../support/eventually';
import { SUPABASE_LAYOUT } from '../support/supabase-layout';
import { installedMajors, SystemPostgres } from '../support/system-postgres';

startForGuides();

it(
  'migrations-in-ci.md: a migration is made, tried, applied and compared',
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
    // Others are in the guides that the page links.
    const quick = [...new Set(commands)].filter((command) => !/ (db diff|token) /.test(command));
    expect(quick.length).toBeGreaterThan(4);
    await guide.shell(quick.join('\n').replaceAll('<project>', 'checked'));
  },
  LIMIT_MS,
);

/** Below the version of the embedded one, which pg_dump must not be older than. */
const major = installedMajors(18).at(-1);

(major === undefined ? describe.skip : describe)('databases of others', () => {
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
    'from-postgresql.md: tables, rows and users of another database move over',
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
