/** The maker of an archive gets no access to the restored project or install by anything in the archive. */
import { backUp, restore } from '../../support/backups';
import { casesOf } from '../../support/extent';
import { forged } from '../../support/forged-archives';
import { accessOf, asOwner, asSuperuser, DatabaseAccess, sqlstateOf } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { newPerson } from '../../support/staff';
import { type S3Credentials, sha256, signS3 } from '../../support/s3-signature';
import { TestProject, type TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let access: DatabaseAccess;
let user: TestUser;
/** A named key, and an S3 key of `user` as it signs. */
let named: string;
let s3: S3Credentials;
let link: string;
let archive: Buffer;

jest.setTimeout(120_000);

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql('create table notes as select n from generate_series(1, 10) n');
  access = await accessOf(plinth, project.id);
  user = await project.signUp();
  named = (await newKey('api-keys', { name: 'report', kind: 'secret' })).key;
  s3 = await newKey('s3-keys', {});
  link = await signedLink();
  expect(await otherKeys()).toEqual({ named: 200, s3: 200, token: 200 });
  archive = await backUp(plinth, project.id);
  await remove();
});
afterAll(() => plinth.stop());

const remove = (): Promise<unknown> => plinth.admin.delete(`/admin/v1/projects/${project.id}`);

/* oxlint-disable-next-line typescript/no-explicit-any -- bodies of the product under test */
const newKey = async (kind: 'api-keys' | 's3-keys', rights: object): Promise<any> =>
  (await plinth.admin.post(`/admin/v1/projects/${project.id}/${kind}`, rights)).body;

/** Statuses for keys that no archive has, and for a user's access token. */
async function otherKeys(): Promise<Record<string, number>> {
  const target = `/p/${project.slug}/storage/v1/s3`;
  const { host } = new URL(plinth.baseUrl);
  const { headers } = signS3(s3, { method: 'GET', host, target, payload: sha256('') });
  return {
    named: (await project.client(named, named).get('/rest/v1/notes')).status,
    s3: (await plinth.http.with(headers).unchecked().get(target)).status,
    token: (await user.http.get(`${project.auth}/user`)).status,
  };
}

async function signedLink(): Promise<string> {
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const body = new FormData();
  body.append('file', new Blob(['content']), 'kept.txt');
  const { body: file } = await project.service.send('POST', `${project.storage}/buckets/box/upload`, {
    body,
  });
  const path = `${project.storage}/files/${file.data.id}/signed-url`;
  const { body: signed } = await project.service.post(path, { expiry: '1h' });
  const { pathname, search } = new URL(signed.data.url as string);
  return pathname + search;
}

/** The status of a request with each secret that was valid when the archive was made, and the SQLSTATE of a login as the project's owner (null: it succeeded). */
async function knownSecrets(): Promise<(number | string | null)[]> {
  const refreshed = await project.anon.post(`${project.auth}/refresh`, {
    refresh_token: user.session.refresh_token,
  });
  return [
    (await project.anon.get('/rest/v1/notes')).status,
    (await project.service.get('/rest/v1/notes')).status,
    (await plinth.http.get(link)).status,
    refreshed.status,
    await sqlstateOf(asOwner(access, (client) => client.query('select'))),
  ];
}

describe('A restored archive', () => {
  afterEach(remove);

  it('has new keys, secrets, sessions and a new database password', async () => {
    const restored = await restore(plinth, archive);
    expect([restored.status, restored.body.keys_kept]).toEqual([201, false]);
    expect(restored.body.id).toBe(project.id);
    expect(await knownSecrets()).toEqual([401, 401, expect.any(Number), 401, '28P01']);
    expect(await otherKeys()).toEqual({ named: 401, s3: 403, token: 401 });
    expect((await plinth.http.get(link)).status).toBeGreaterThanOrEqual(400);
    const { rows } = await asOwner(await accessOf(plinth, project.id), (client) =>
      client.query(
        'select (select count(*)::int from notes) as notes, (select count(*)::int from auth.sessions) as sessions',
      ),
    );
    expect(rows).toEqual([{ notes: 10, sessions: 0 }]);
  });

  it('keeps them on request', async () => {
    const restored = await restore(plinth, archive, { query: '?keep_keys=true' });
    expect([restored.status, restored.body.keys_kept]).toEqual([201, true]);
    expect(await knownSecrets()).toEqual([200, 200, 200, 200, null]);
    expect(await otherKeys()).toEqual({ named: 401, s3: 403, token: 200 });
    for (const kind of ['api-keys', 's3-keys'])
      expect((await plinth.admin.get(`/admin/v1/projects/${project.id}/${kind}`)).body).toEqual([]);
    const log = (await plinth.admin.get('/admin/v1/audit-log?action=project.restore&limit=1')).body;
    expect(log[0]?.details).toMatchObject({ keys_kept: true });
  });

  it.each([false, true])('does not keep a password that its SQL sets (keep_keys=%s)', async (keeps) => {
    const hostile = await withSql(`alter role current_user password 'chosen by the archive'`);
    expect((await restore(plinth, hostile, { query: `?keep_keys=${keeps}` })).status).toBe(201);
    const known = { ...access, owner_password: 'chosen by the archive' };
    expect(await sqlstateOf(asOwner(known, (client) => client.query('select')))).toBe('28P01');
    await asOwner(await accessOf(plinth, project.id), (client) => client.query('select'));
  });
});

const withSql = (sql: string): Promise<Buffer> =>
  forged(archive, ({ members }) => {
    const dump = members.get('schema/post-data.sql')?.toString() ?? '';
    members.set('schema/post-data.sql', Buffer.from(`${dump}\n${sql};\n`));
  });

describe('SQL of an archive', () => {
  const REFUSED = [
    'set role anon',
    `do $$ begin set local role anon; alter role current_user set extra_float_digits = 0; end $$`,
    `create role known_to_a_stranger login password 'known'`,
    `create table trap (n int); create function f() returns int language plpgsql as
       'begin set local role anon; alter role anon set jit = on; return 1; end';
     insert into trap select f()`,
    'set role service_role',
    `set role authenticated; alter role authenticated set datestyle = 'SQL, DMY'`,
    `alter role anon set datestyle = 'SQL, DMY'`,
  ];
  it.each(casesOf(REFUSED, 4))('is refused: %s', async (sql) => {
    const answer = await restore(plinth, await withSql(sql));
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'restore_failed']);
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query(`select from pg_db_role_setting where setrole in
          (select oid from pg_roles where rolname in ('anon', 'authenticated', 'service_role'))
        union all select from pg_roles where rolname = 'known_to_a_stranger'`),
    );
    expect(rows).toEqual([]);
  });

  it('lets nobody into the database by a grant of CONNECT', async () => {
    const stranger = await accessOf(plinth, (await plinth.createProject({ name: 'Stranger' })).id);
    const grantees = `public, anon, authenticated, service_role, ${stranger.owner_role}`;
    const hostile = await withSql(`do $$ begin
      execute format('grant all on database %I to ${grantees} with grant option', current_database());
      exception when others then execute format('grant all on database %I to ${grantees}', current_database());
      end $$`);
    expect((await restore(plinth, hostile)).status).toBe(201);
    const { database } = await accessOf(plinth, project.id);
    expect(await sqlstateOf(asOwner(stranger, (client) => client.query('select'), { database }))).toBe(
      '42501',
    );
    const { findings } = (await plinth.admin.post('/admin/v1/doctor', {})).body;
    expect(findings.filter((one) => one.check === 'database_access')).toEqual([
      expect.objectContaining({ status: 'ok' }),
    ]);
    await remove();
  });

  it('leaves no effect on the rights of the owner', async () => {
    expect((await restore(plinth, archive)).status).toBe(201);
    await asOwner(await accessOf(plinth, project.id), async (client) => {
      await client.query('begin; create role of_the_owner; set local role service_role; rollback');
    });
    await remove();
  });
});

describe('POST /restore/all', () => {
  const entry = 'SENTINEL.action';

  async function installArchive(): Promise<Buffer> {
    const answer = await fetch(`${plinth.baseUrl}/admin/v1/backup`, {
      headers: {
        ...plinth.admin.headers,
        'backup-passphrase': encodeURIComponent('correct horse — battery staple'),
      },
    });
    return Buffer.from(await answer.arrayBuffer());
  }

  const withEntry = async (): Promise<Buffer> =>
    forged(await installArchive(), ({ members }) => {
      const log = members.get('platform/audit_log.copy')?.toString() ?? '';
      const forgedEntry = ['2001-02-03 04:05:06+00', 'chief@example.com', entry, '\\N', '\\N', '{"a": 1}'];
      members.set('platform/audit_log.copy', Buffer.from(`${log}${forgedEntry.join('\t')}\n`));
    });

  it('can be restored only by owners of the install', async () => {
    const operator = await newPerson(plinth, 'operator');
    const answer = await operator.http.post('/admin/v1/restore/all', await installArchive(), {
      headers: { 'content-type': 'application/gzip', 'backup-passphrase': 'correct' },
    });
    expect(answer.status).toBe(403);
  });

  it('marks the audit entries that it adds, and records the restore', async () => {
    const hostile = await withEntry();
    const restored = await restore(plinth, hostile, { path: '/restore/all' });
    expect([restored.status, restored.body.audit_entries]).toEqual([200, 1]);
    const [imported] = (await plinth.admin.get(`/admin/v1/audit-log?action=${entry}`)).body;
    expect(imported).toMatchObject({
      actor: 'chief@example.com',
      details: { a: 1, imported_by: 'platform-admin-key' },
    });
    const [own] = (await plinth.admin.get('/admin/v1/audit-log?action=install.restore')).body;
    expect(own).toMatchObject({ details: { audit_entries: 1, backed_up_at: expect.any(String) } });
    expect(Number(own?.id)).toBeGreaterThan(Number(imported?.id));
    expect((await plinth.admin.get('/admin/v1/audit-log/verify')).body.broken ?? null).toBeNull();

    const again = await restore(plinth, hostile, { path: '/restore/all' });
    expect([again.status, again.body.audit_entries]).toEqual([200, 0]);
  });
});
