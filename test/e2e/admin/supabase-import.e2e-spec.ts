/** `plinth import supabase` from a database and a storage that are laid out as Supabase's. */
import { hashSync } from 'bcryptjs';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import { SUPABASE_LAYOUT } from '../../support/supabase-layout';
import { TestDatabase } from '../../support/test-database';
import { TestProject } from '../../support/test-project';

const PASSWORD = 'the old password';
const [ADA, BOB, GONE, GUEST] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

const PROJECT = `
  create schema api; create type public.status as enum ('open', 'done');
  create table public.profiles (id uuid primary key references auth.users on delete cascade, full_name text, plan text);
  create table public.orders (id bigint generated always as identity primary key,
    user_id uuid not null default auth.uid() references auth.users, total numeric(10, 2) not null check (total > 0),
    code uuid not null default extensions.uuid_generate_v4(), state public.status not null default 'open',
    tag extensions.citext, doubled numeric generated always as (total * 2) stored);
  create index orders_user on public.orders (user_id);
  create table public.countries (code text primary key, name text);
  create table public.secrets (id serial primary key, text text, visible text);
  create table api.items (id int primary key);
  create table public.attachments (id int primary key, object_id uuid references storage.objects);
  alter table public.profiles enable row level security; alter table public.orders enable row level security;
  alter table public.secrets enable row level security;
  create policy "own orders" on public.orders for all to authenticated using (user_id = (select auth.uid()))
    with check (user_id = (select auth.uid()) and (auth.jwt() ->> 'aal') is not null);
  create policy "own profile" on public.profiles for select to authenticated using (id = auth.uid());
  create policy "all secrets" on public.secrets for select to anon, authenticated using (true);
  revoke all on public.secrets from anon, authenticated; grant select (id, visible) on public.secrets to authenticated;
  create function public.handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
  begin
    insert into public.profiles (id, full_name, plan) values (new.id, new.raw_user_meta_data ->> 'full_name',
      new.raw_app_meta_data ->> 'plan');
    return new;
  end $$;
  create trigger on_auth_user_created after insert on auth.users for each row execute function public.handle_new_user();
  create function public.admin_only() returns int language sql security definer as 'select 1';
  revoke all on function public.admin_only() from public, anon, authenticated;
  create function public.call_out() returns void language plpgsql as $$ begin perform net.http_post('http://x'); end $$;
  create view public.people with (security_invoker = true) as select u.id, u.raw_user_meta_data from auth.users u;
  create materialized view public.sums as select sum(total) as total from public.orders;
  create function auth.is_admin() returns boolean language sql stable as $$ select auth.jwt() ->> 'role' = 'admin' $$;
  create trigger hook after insert on public.orders for each row execute function supabase_functions.http_request('https://x');
  create policy "members" on realtime.messages for select to authenticated using (realtime.topic() = 'room');
  create policy "own folder" on storage.objects for insert to authenticated
    with check (bucket_id = 'avatars' and (storage.foldername(name))[1] = (select auth.uid()::text));
  create policy "own files" on storage.objects for select to authenticated using (owner_id = auth.uid()::text
    and exists (select from public.profiles p where p.id = auth.uid() and objects.name not like 'hidden%'));
  alter publication supabase_realtime add table public.orders;
  insert into vault.secrets (name, secret) values ('stripe', 'x');
  insert into cron.job values (1, '0 3 * * *', 'select 1', 'nightly');
  insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types) values
    ('avatars', 'avatars', false, 1000000, '{image/*,text/plain}'), ('papers', 'papers', true, null, null);`;

let plinth: TestPlinth;
let old: TestDatabase;
let oldFiles: TestProject;
let url: string;
const folder = mkdtempSync(join(tmpdir(), 'plinth-supabase-'));

beforeAll(async () => {
  plinth = await TestPlinth.start({ tuning: { bcryptCost: 5 } });
  old = await TestDatabase.create();
  const { host, port, database, user, password } = old.place;
  url = `postgresql://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
  await old.owner.query(SUPABASE_LAYOUT);
  await old.owner.query(PROJECT);
  await old.owner.query('alter table auth.users disable trigger on_auth_user_created');
  const meta = { full_name: 'Ada' };
  for (const [id, email, rest] of [
    [ADA, 'ada@example.com', {}],
    [
      BOB,
      'bob@example.com',
      { banned_until: '2999-01-01', raw_app_meta_data: { provider: 'google', providers: ['google'] } },
    ],
    [GONE, 'deleted', { deleted_at: '2024-01-01' }],
    [GUEST, null, { is_anonymous: true }],
  ] as const)
    await old.owner.query(
      `insert into auth.users (id, email, encrypted_password, email_confirmed_at, raw_user_meta_data, raw_app_meta_data, created_at,
          banned_until, deleted_at, is_anonymous)
        select $1, $2, $3, '2024-01-01', $4, r.raw_app_meta_data, '2023-01-01', r.banned_until, r.deleted_at, coalesce(r.is_anonymous, false)
        from jsonb_to_record($5) as r(raw_app_meta_data jsonb, banned_until timestamptz, deleted_at timestamptz, is_anonymous boolean)`,
      [id, email, email === 'ada@example.com' ? hashSync(PASSWORD, 5) : '', meta, rest],
    );
  await old.owner.query(`
    alter table auth.users enable trigger on_auth_user_created;
    insert into auth.identities (provider_id, user_id, identity_data, provider) values
      ('${ADA}', '${ADA}', '{"sub": "${ADA}", "email": "ada@example.com"}', 'email'),
      ('g-bob', '${BOB}', '{"sub": "g-bob", "iss": "https://accounts.google.com"}', 'google');
    insert into public.profiles values ('${ADA}', 'Ada', 'pro');
    insert into public.orders (user_id, total, tag) select '${ADA}', n, 'X' from generate_series(1, 3000) n;
    insert into public.orders (user_id, total) values ('${GONE}', 7);
    insert into public.countries values ('DE', E'Deutsch\\tland\\n');
    insert into public.secrets (text, visible) values ('hidden', 'shown'); refresh materialized view public.sums`);
  oldFiles = await plinth.createProject();
  const storage = `/p/${oldFiles.slug}/storage/v1`;
  for (const [bucket, name, text, owner] of [
    ['avatars', `${ADA}/ünï face.txt`, 'of Ada', ADA],
    ['papers', '2026/a.txt', 'the paper', null],
    ['papers', 'lost.txt', null, null],
  ] as const) {
    await oldFiles.service.post(`${storage}/bucket`, { id: bucket, name: bucket });
    const path = name.split('/').map(encodeURIComponent).join('/');
    if (text !== null)
      await oldFiles.service.unchecked().send('POST', `${storage}/object/${bucket}/${path}`, {
        body: Buffer.from(text),
        headers: { 'content-type': 'text/plain' },
      });
    await old.owner.query(
      `insert into storage.objects (bucket_id, name, owner, owner_id, metadata, user_metadata, created_at)
        values ($1, $2, $3::uuid, $3::uuid::text, jsonb_build_object('size', $4::int, 'mimetype', 'text/plain', 'cacheControl', 'max-age=77'),
          '{"by": "import"}', '2024-05-06')`,
      [bucket, name, owner, text?.length ?? 3],
    );
  }
  writeFileSync(join(folder, 'key'), `${oldFiles.serviceKey}\n`);
});
afterAll(async () => {
  await old.drop();
  await plinth.stop();
  rmSync(folder, { recursive: true });
});

async function run(
  project: string,
  ...args: string[]
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
): Promise<{ code: number; report: any; err: string }> {
  let [out, err] = ['', ''];
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (more) => void (out += more),
    err: (more) => void (err += more),
  });
  const code = await runCli(
    ['import', 'supabase', url, '--project', project, '--json', ...args],
    environment,
  );
  return { code, report: JSON.parse(out), err };
}
const objects = (list: { object: string }[]): string[] => list.map(({ object }) => object);
const withFiles = (): string[] => [
  ...['--storage-url', `${plinth.baseUrl}/p/${oldFiles.slug}`, '--service-key-file', join(folder, 'key')],
];
const LEFT = [
  'vault: secret stripe',
  'cron: nightly (0 3 * * *)',
  'database webhook hook on public.orders',
  'edge functions',
  'table public.countries',
  'FUNCTION public.call_out()',
  'FUNCTION public.handle_new_user()',
];

it('reports the differences in a dry run, with and without a project, and changes nothing', async () => {
  const none = await run('not-there', '--dry-run');
  expect(none.report).toMatchObject({ dry_run: true, statements: 0 });
  expect((await plinth.admin.get('/admin/v1/projects?slug=not-there')).body).toEqual([]);
  const project = await plinth.createProject();
  const { code, report } = await run(project.slug, '--dry-run');
  expect(objects(report.differs)).toEqual(expect.arrayContaining(LEFT));
  expect([code, objects(report.failed)]).toEqual([
    1,
    ['FK CONSTRAINT public.attachments attachments_object_id_fkey'],
  ]);
  expect(await project.sql(`select from pg_tables where schemaname in ('public', 'api')`)).toEqual([]);
  expect(await project.sql('select from auth.users')).toEqual([]);
});

describe('an import', () => {
  let project: TestProject;
  let first: Awaited<ReturnType<typeof run>>;
  let ada: ReturnType<TestProject['client']>;
  const rest = '/rest/v1';

  beforeAll(async () => {
    project = await plinth.createProject();
    first = await run(project.slug, ...withFiles());
    if (first.report.error) throw new Error(JSON.stringify(first));
    const { body } = await project
      .client(project.anonKey, null)
      .post(`${project.auth}/login`, { email: 'ada@example.com', password: PASSWORD });
    ada = project.client(project.anonKey, body.session.access_token);
  });

  it('names the objects that could not be copied, and copies the rest', () => {
    expect(first.report.failed).toEqual([
      { object: 'file papers/lost.txt', reason: 'the old storage answered 404' },
      expect.objectContaining({ object: 'FK CONSTRAINT public.attachments attachments_object_id_fkey' }),
    ]);
    expect(first.report).toMatchObject({ users: 4, rows: 3_004, buckets: 2, files: 2, existing: 0 });
    expect(objects(first.report.differs)).toEqual(expect.arrayContaining(LEFT));
  });

  it('keeps users with ids, hashes, identities, bans and rows', async () => {
    const users =
      await project.sql(`select id, email, email_verified_at is not null as proved, banned_until > now() as banned,
      is_anonymous, created_at < '2024-01-01' as old from auth.users order by email`);
    expect(users).toEqual([
      expect.objectContaining({ email: '', is_anonymous: true }),
      expect.objectContaining({ email: '', is_anonymous: true }),
      { id: ADA, email: 'ada@example.com', proved: true, banned: null, is_anonymous: false, old: true },
      { id: BOB, email: 'bob@example.com', proved: true, banned: true, is_anonymous: false, old: true },
    ]);
    expect(await project.sql('select user_id, provider, subject from auth.identities')).toEqual([
      { user_id: BOB, provider: 'google', subject: 'g-bob' },
    ]);
    expect((await ada.get(`${rest}/orders?select=total,doubled,tag,state&order=id&limit=1`)).body).toEqual([
      { total: 1, doubled: 2, tag: 'X', state: 'open' },
    ]);
    expect((await project.anon.get(`${rest}/orders`)).body).toEqual([]);
    expect(await project.sql('select name, (select total from sums) from countries')).toEqual([
      { name: 'Deutsch\tland\n', total: '4501507.00' },
    ]);
  });

  it('keeps sequences, privileges, the publication and the functions of schemas of services', async () => {
    const order = await ada.post(`${rest}/orders`, { total: 5 });
    expect([order.status, order.body[0]?.id]).toEqual([201, 3_002]);
    expect((await ada.get(`${rest}/secrets?select=visible`)).body).toEqual([{ visible: 'shown' }]);
    expect((await ada.get(`${rest}/secrets?select=text`)).status).toBe(403);
    expect((await ada.post(`${rest}/rpc/admin_only`, {})).status).not.toBe(200);
    expect((await project.service.post(`${rest}/rpc/admin_only`, {})).body).toBe(1);
    expect(
      await project.sql(`select tablename from pg_publication_tables where pubname = 'supabase_realtime'`),
    ).toEqual([{ tablename: 'orders' }]);
    expect(await project.sql(`select auth.is_admin() is null as ok`)).toEqual([{ ok: true }]);
    expect(await project.sql(`select policyname from pg_policies where schemaname = 'realtime'`)).toEqual([
      { policyname: 'members' },
    ]);
  });

  it('runs triggers on auth.users with the column names of Plinth', async () => {
    const body = { email: 'new@example.com', password: 'correct horse', data: { full_name: 'New One' } };
    const created = await project.service.post(`${project.auth}/admin/users`, body);
    expect(created.status).toBe(200);
    expect(await project.sql(`select full_name from profiles where id = '${created.body.user.id}'`)).toEqual([
      { full_name: 'New One' },
    ]);
    expect(
      await project.sql(`select raw_user_meta_data->>'full_name' as name from people where id = '${ADA}'`),
    ).toEqual([{ name: 'Ada' }]);
  });

  it('keeps files with owners and times, under the policies of storage.objects', async () => {
    const object = `/p/${project.slug}/storage/v1/object`;
    const face = `${ADA}/${encodeURIComponent('ünï face.txt')}`;
    expect((await ada.unchecked().get(`${object}/authenticated/avatars/${face}`)).text).toBe('of Ada');
    expect((await project.anon.unchecked().get(`${object}/authenticated/avatars/${face}`)).status).not.toBe(
      200,
    );
    const paper = await project.anon.unchecked().get(`${object}/public/papers/2026/a.txt`);
    expect([paper.text, paper.headers.get('cache-control')]).toEqual([
      'the paper',
      expect.stringContaining('max-age=77'),
    ]);
    expect(
      await project.sql(
        'select owner_id, metadata, created_at < now() - interval $$1 year$$ as old from storage.files where owner_id is not null',
      ),
    ).toEqual([{ owner_id: ADA, metadata: { by: 'import' }, old: true }]);
    const upload = async (bucket: string, path: string): Promise<number> =>
      (
        await ada.unchecked().send('POST', `${object}/${bucket}/${path}`, {
          body: Buffer.from('x'),
          headers: { 'content-type': 'text/plain' },
        })
      ).status;
    expect(await upload('avatars', `${ADA}/new.txt`)).toBe(200);
    expect(await upload('avatars', `${BOB}/new.txt`)).not.toBe(200);
    expect(await upload('papers', 'new.txt')).not.toBe(200);
    const bucket = await project.service.get(`/p/${project.slug}/storage/v1/bucket/avatars`);
    expect(bucket.body).toMatchObject({
      file_size_limit: 1_000_000,
      allowed_mime_types: ['image/*', 'text/plain'],
    });
  });

  it('continues when it is repeated, and reads files from a folder', async () => {
    mkdirSync(join(folder, 'papers/lost.txt'), { recursive: true });
    writeFileSync(join(folder, 'papers/lost.txt/a-version'), 'now');
    await old.owner.query(
      `insert into storage.objects (bucket_id, name, metadata) values ('papers', '../../key', '{"size": 1}')`,
    );
    const { report } = await run(project.slug, '--files', folder);
    expect(report).toMatchObject({ users: 0, rows: 0, buckets: 0, files: 1, existing_files: 2 });
    expect(report.failed[0].reason).toBe('its name has parts . or ..');
    expect(objects(report.failed)).toEqual([
      'file papers/../../key',
      'FK CONSTRAINT public.attachments attachments_object_id_fkey',
    ]);
    expect((await ada.get(`${rest}/orders?select=id&limit=1&order=id.desc`)).body[0].id).toBe(3_002);
  });
});

it('refuses addresses and databases that do not belong to Supabase', async () => {
  const none = await TestDatabase.create();
  const shown = url;
  url = url.replace(old.place.database, none.place.database);
  expect((await run('x')).report.error.message).toContain('no auth.users');
  url = 'http://example.com';
  expect((await run('x')).code).toBe(2);
  url = shown;
  await none.drop();
});
