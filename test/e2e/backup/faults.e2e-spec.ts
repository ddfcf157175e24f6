/** Archives that are damaged, forged or hostile: a restore is complete or leaves nothing behind. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { backUp, PASSPHRASE, restore } from '../../support/backups';
import { eventually } from '../../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let archive: Buffer;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`create table notes (n int); insert into notes select generate_series(1, 1000)`);
  archive = await backUp(plinth, project.id);
  await plinth.admin.delete(`/admin/v1/projects/${project.id}`);
}, 60_000);
afterAll(() => plinth.stop());

/** Databases, roles and platform row of a project. */
async function tracesOf(id: string): Promise<string[]> {
  return asSuperuser('postgres', async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where strpos(datname, $1) > 0
       union all select rolname from pg_roles where strpos(rolname, $1) > 0`,
      [id],
    );
    return rows.map(({ name }) => name);
  });
}

async function expectNothing(id = project.id): Promise<void> {
  expect((await plinth.admin.get(`/admin/v1/projects/${id}`)).status).toBe(404);
  await eventually(async () => expect(await tracesOf(id)).toEqual([]), 20_000);
}

/** The archive with a change in its tar file. */
function altered(change: (tar: Buffer) => Buffer): Buffer {
  return gzipSync(change(gunzipSync(archive)), { level: 1 });
}

const flipped = (tar: Buffer, marker: string): Buffer => {
  const at = tar.indexOf(marker);
  expect(at).toBeGreaterThan(0);
  const copy = Buffer.from(tar);
  copy.writeUInt8(copy.readUInt8(at + marker.length - 1) ^ 1, at + marker.length - 1);
  return copy;
};

/** The last member before the list of checksums. */
const LAST = 'schema/post-data.sql';
const BLOCK = 512;
const ANOTHER = 'files/00000000-0000-4000-8000-000000000000';

/** Offset of the header of a member. */
function memberAt(tar: Buffer, name: string): number {
  for (let at = tar.indexOf(name); at >= 0; at = tar.indexOf(name, at + 1)) if (at % BLOCK === 0) return at;
  throw new Error(`there is no member ${name}`);
}

/** The tar file with another member before the given member. */
function inserted(tar: Buffer, before: string, name: string): Buffer {
  const at = memberAt(tar, before);
  const member = Buffer.from(tar.subarray(memberAt(tar, LAST), memberAt(tar, LAST) + BLOCK));
  member.fill(0, 0, 100);
  member.write(name);
  // The size is zero. The checksum is computed with its own field filled with spaces (POSIX, pax).
  member.write('00000000000\0', 124);
  member.fill(' ', 148, 156);
  const sum = member.reduce((total, byte) => total + byte, 0);
  member.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([tar.subarray(0, at), member, tar.subarray(at)]);
}

it.each<[string, () => Buffer, RegExp]>([
  ['is cut off', () => archive.subarray(0, archive.length - 200), /not an intact backup/],
  [
    'ends before its manifest',
    () => altered((tar) => tar.subarray(0, tar.indexOf('manifest.json'))),
    /intact/,
  ],
  [
    'has other rows',
    () => altered((tar) => flipped(tar, '\n998\n999')),
    /data\/\d+\.copy differs from its checksum/,
  ],
  [
    'has a member too many',
    () => altered((tar) => inserted(tar, 'sums/', ANOTHER)),
    /the member files\/00000000-\S+ is missing in the lists of checksums/,
  ],
  [
    'has a member with an unknown path',
    () => altered((tar) => inserted(tar, 'sums/', 'files/../another')),
    /files\/\.\.\/another is not a member that this version knows/,
  ],
  [
    'has a member after its list',
    () => altered((tar) => inserted(tar, 'manifest.json', ANOTHER)),
    /the member files\/00000000-\S+ is missing in the lists of checksums/,
  ],
  [
    'lacks a member',
    () =>
      altered((tar) =>
        Buffer.concat([tar.subarray(0, memberAt(tar, LAST)), tar.subarray(memberAt(tar, 'sums/'))]),
      ),
    /the member schema\/post-data.sql is missing/,
  ],
  ['has another header', () => altered((tar) => flipped(tar, '"name": "Tes')), /passphrase/],
  [
    'has another manifest',
    () => altered((tar) => flipped(tar, '"missing": ')),
    /manifest was altered|intact/,
  ],
  ['is not an archive', () => Buffer.from('not an archive'), /not an intact backup/],
  ['is empty', () => Buffer.alloc(0), /not an intact backup|header.json is missing/],
])('restores nothing of an archive that %s', async (_what, make, message) => {
  const answer = await restore(plinth, make());
  expect([answer.status, answer.body?.error?.message]).toEqual([400, expect.stringMatching(message)]);
  await expectNothing();
});

it('needs the passphrase', async () => {
  const wrong = await restore(plinth, archive, { passphrase: 'another passphrase' });
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'wrong_passphrase']);
  for (const passphrase of ['', 'short']) {
    expect((await restore(plinth, archive, { passphrase })).status).toBe(400);
    await expect(backUp(plinth, project.id, passphrase)).rejects.toThrow(/answered 400/);
  }
  await expectNothing();
});

it('needs the admin key', async () => {
  const headers = { 'backup-passphrase': encodeURIComponent(PASSPHRASE) };
  const backup = await plinth.http.get(`/admin/v1/projects/${project.id}/backup`, { headers });
  expect([backup.status, (await plinth.http.post('/admin/v1/restore', archive, { headers })).status]).toEqual(
    [401, 401],
  );
});

it('changes nothing in a dry run', async () => {
  const answer = await restore(plinth, archive, { query: '?dry_run=true' });
  expect([answer.status, answer.body]).toEqual([
    201,
    expect.objectContaining({ id: project.id, dry_run: true }),
  ]);
  await expectNothing();
});

it('restores once, and a copy with other keys under another slug', async () => {
  expect((await restore(plinth, archive)).status).toBe(201);
  const again = await restore(plinth, archive);
  expect([again.status, again.body.error.code]).toEqual([409, 'project_already_exists']);

  const copied = await restore(plinth, archive, { query: '?slug=the-copy' });
  expect([copied.status, copied.body]).toEqual([
    201,
    expect.objectContaining({ slug: 'the-copy', same_id: false }),
  ]);
  const { id } = copied.body as { id: string };
  const keys = (await plinth.admin.get(`/admin/v1/projects/${id}/keys`)).body;
  expect(keys.jwt_secret).not.toBe(project.jwtSecret);
  const rest = '/p/the-copy/rest/v1/notes?select=count()';
  const ofCopy = project.client(keys.service_role_key, keys.service_role_key);
  expect((await ofCopy.get(rest)).body).toEqual([{ count: 1000 }]);
  expect((await project.service.get(rest)).status).toBe(401);
  const { rows } = await asSuperuser(`plinth_${id}`, (client) =>
    client.query(`select string_agg(distinct pg_get_userbyid(relowner), ' ') as owner from pg_class c
      join pg_namespace n on n.oid = relnamespace where nspname in ('public', 'auth', 'storage')`),
  );
  expect(rows).toEqual([{ owner: `plinth_${id}_owner` }]);
  for (const one of [id, project.id]) await plinth.admin.delete(`/admin/v1/projects/${one}`);
}, 60_000);

it("runs the project's code as its owner only, and undoes a restore that fails", async () => {
  const hostile = await plinth.createProject();
  const access = await accessOf(plinth, hostile.id);
  await asOwner(access, (client) =>
    client.query(`
      create function spy(n int) returns int immutable language plpgsql as $$ begin
        if exists (select from pg_catalog.pg_roles where rolname in (session_user, current_user) and rolsuper)
          or session_user <> '${access.owner_role}' then
          raise exception 'called as %', session_user;
        end if;
        return n; end $$;
      create table watched (n int check (public.spy(n) > 0), g int generated always as (public.spy(n)) stored);
      insert into watched values (1);
      create index on watched (public.spy(n));
      create materialized view watching as select public.spy(n) from watched;
      create function before_insert() returns trigger language plpgsql as $$ begin
        raise exception 'a trigger fired'; end $$;
      create trigger no_more before insert on watched for each row execute function before_insert();`),
  );
  const good = await backUp(plinth, hostile.id);
  // Tables are loaded in order of their names, so this row is loaded before the row it depends on.
  await asOwner(access, (client) =>
    client.query(`
      create table zz_parent (n int); insert into zz_parent values (1);
      create function has_parent() returns boolean language sql as 'select exists (select from public.zz_parent)';
      create table aa_child (n int check (public.has_parent())); insert into aa_child values (1);`),
  );
  const bad = await backUp(plinth, hostile.id);
  await plinth.admin.delete(`/admin/v1/projects/${hostile.id}`);
  const failed = await restore(plinth, bad);
  expect([failed.status, failed.body.error]).toEqual([
    400,
    expect.objectContaining({ code: 'restore_failed', message: expect.stringContaining('aa_child') }),
  ]);
  await expectNothing(hostile.id);
  expect((await restore(plinth, good)).status).toBe(201);
  expect(await hostile.sql('select * from watching')).toEqual([{ spy: 1 }]);
}, 60_000);

it('backs up a project whose owner limits transactions', async () => {
  const limited = await plinth.createProject();
  await limited.sql(`create table notes (n int);
    do $$ begin execute format('alter database %I set transaction_timeout to ''300ms''', current_database()); end $$`);
  expect(
    (await restore(plinth, await backUp(plinth, limited.id), { query: '?slug=limited-copy' })).status,
  ).toBe(201);
}, 60_000);

/** Reads the beginning of an archive and disconnects. */
async function readBeginning(path: string, bytes: number): Promise<void> {
  const aborted = new AbortController();
  const headers = { ...plinth.admin.headers, 'backup-passphrase': encodeURIComponent(PASSPHRASE) };
  const answer = await fetch(`${plinth.baseUrl}/admin/v1${path}?compression=none`, {
    headers,
    signal: aborted.signal,
  });
  expect(answer.status).toBe(200);
  let read = 0;
  for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
    read += chunk.length;
    if (read >= bytes) break;
  }
  aborted.abort();
}

it('logs one line when a client disconnects in the middle of a backup, and makes the next backup', async () => {
  const lines: string[] = [];
  const keep = (level: string) => (message: unknown) => void lines.push(`${level}: ${String(message)}`);
  plinth.app.useLogger({ log: () => undefined, warn: keep('warn'), error: keep('error') });
  const large = await plinth.createProject();
  await large.sql(`create table large as select repeat(md5(n::text), 64) from generate_series(1, 10000) n`);
  const path = `/projects/${large.id}/backup`;
  for (const [from, bytes] of [
    [path, 1],
    [path, 400_000],
    ['/backup', 400_000],
    [path, 10_000_000],
  ] as const) {
    // The previous backup may still be running.
    await eventually(() => readBeginning(from, bytes), 20_000);
    const what = from === path ? `project ${large.id}` : 'the install';
    const line = `warn: The backup of ${what} was not received: the client disconnected, or read it too slowly`;
    await eventually(async () => expect(lines.splice(0)).toEqual([line]), 20_000);
  }
  await eventually(async () => void (await backUp(plinth, large.id)), 20_000);
  await plinth.admin.delete(`/admin/v1/projects/${large.id}`);
}, 120_000);
