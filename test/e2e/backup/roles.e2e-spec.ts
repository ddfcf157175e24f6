/** Roles that a project's owner created travel with its archive, and a dry run fails where the restore would. */
import { backUp, restore } from '../../support/backups';
import { forged } from '../../support/forged-archives';
import { accessOf, asOwner, asSuperuser, serverVersion, sqlstateOf } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

jest.setTimeout(120_000);

let plinth: TestPlinth;
let project: TestProject;
let archive: Buffer;
let roles: unknown[];
/** Created by the owner. */
let editor: string;
let reviewer: string;
/** Created by an administrator, who granted it to the project. */
let byHand: readonly string[];

beforeAll(async () => {
  if ((await serverVersion()) < 16) return;
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  [editor, reviewer] = [`editor_${project.id}`, `reviewer_${project.id}`];
  byHand = [`hand_a_${project.id}`, `hand_b_${project.id}`];
  for (const name of byHand) await asSuperuser('postgres', (client) => client.query(`create role ${name}`));
  const access = await accessOf(plinth, project.id);
  await asOwner(access, (client) =>
    client.query(`
      create role ${editor} login password 'of the editor' connection limit 3 valid until '2040-01-01';
      create role ${reviewer} noinherit; comment on role ${reviewer} is 'reads';
      grant ${reviewer} to ${editor}; grant ${editor} to ${access.login_role};
      grant connect on database ${access.database} to ${editor};
      alter role ${editor} set statement_timeout = '7s';
      comment on database ${access.database} is 'mine';
      create table notes (text text); insert into notes values ('a'), ('b');
      grant usage on schema public to ${editor}; grant select on notes to ${editor}; create policy edit on notes to ${editor} using (text = 'a')`),
  );
  roles = await rolesOf(project.id);
  expect(await seenByEditor()).toEqual([{ text: 'a' }]);
  archive = await backUp(plinth, project.id);
  await remove();
});
afterAll(async () => {
  for (const name of byHand)
    await asSuperuser('postgres', (client) => client.query(`drop role if exists ${name}`));
  await plinth.stop();
});

const remove = (id = project.id): Promise<unknown> => plinth.admin.delete(`/admin/v1/projects/${id}`);

async function seenByEditor(): Promise<unknown> {
  const token = project.token({ role: editor });
  return (await project.client(project.anonKey, token).get('/rest/v1/notes')).body;
}

/** All attributes of the roles of a project except passwords and the process that created them. */
const rolesOf = (id: string): Promise<unknown[]> =>
  asSuperuser('postgres', async (client) => {
    const { rows } = await client.query<object>(
      `select r.rolname, r.rolcanlogin, r.rolinherit, r.rolcreaterole, r.rolconnlimit, r.rolvaliduntil,
         regexp_replace(shobj_description(r.oid, 'pg_authid'), '^(plinth: created by) .*', '\\1') as comment, shobj_description(d.oid, 'pg_database') as database_comment,
         (select array_agg(setting order by setting) from pg_db_role_setting s, unnest(setconfig) setting
          where s.setrole = r.oid) as settings,
         array(select concat_ws(' ', m.roleid::regrole, admin_option, inherit_option, set_option, m.grantor::regrole)
           from pg_auth_members m where m.member = r.oid and m.roleid::regrole::text <> 'plinth_logins' order by 1) as member_of,
         has_database_privilege(r.oid, d.oid, 'connect') as connects
       from pg_roles r, pg_database d where strpos(r.rolname, $1) > 0 and d.datname = 'plinth_' || $1 order by 1`,
      [id],
    );
    return rows;
  });

const namesOf = (id: string): Promise<string[]> =>
  asSuperuser('postgres', async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select rolname as name from pg_roles where strpos(rolname, $1) > 0 and rolname !~ '^hand_' order by 1`,
      [id],
    );
    return rows.map(({ name }) => name);
  });

const hasPassword = (): Promise<unknown> =>
  asSuperuser('postgres', async (client) => {
    const find = 'select rolpassword is not null as has from pg_authid where rolname = $1';
    return (await client.query<{ has: boolean }>(find, [editor])).rows[0]?.has;
  });

describe('An archive', () => {
  afterEach(() => remove());

  it('restores the roles with memberships, grants and settings', async () => {
    const answer = await restore(plinth, archive, { query: '?keep_keys=true' });
    expect([answer.status, answer.body.skipped_settings]).toEqual([201, []]);
    expect(await rolesOf(project.id)).toEqual(roles);
    expect(await seenByEditor()).toEqual([{ text: 'a' }]);
    expect(await hasPassword()).toBe(true);
  });

  it('gives its roles no password that the maker of the archive knows', async () => {
    expect((await restore(plinth, archive)).status).toBe(201);
    expect(await hasPassword()).toBe(false);
    expect(await rolesOf(project.id)).toEqual(roles);
  });

  it('uses roles that already exist, and reports what they lack', async () => {
    await asSuperuser('postgres', (client) => client.query(`create role ${editor}`));
    try {
      const answer = await restore(plinth, archive);
      expect([answer.status, answer.body.error]).toEqual([201, undefined]);
      expect(answer.body.skipped_settings).toEqual(
        expect.arrayContaining([expect.stringContaining(`role ${editor} exists`)]),
      );
      expect(await namesOf(project.id)).toContain(reviewer);
    } finally {
      await remove();
      await asSuperuser('postgres', (client) => client.query(`drop role ${editor}`));
    }
    expect(await namesOf(project.id)).toEqual([]);
  });

  it('is refused, also in a dry run, with a list of all roles of an administrator that this server lacks', async () => {
    const source = await plinth.createProject();
    const [first, second] = byHand;
    await source.sql(`create table t (n int); grant select on t to ${first};
      create policy p on t to ${second} using (true)`);
    const named = await backUp(plinth, source.id);
    await remove(source.id);
    for (const name of byHand) await asSuperuser('postgres', (client) => client.query(`drop role ${name}`));
    for (const query of ['?dry_run=true', '']) {
      const answer = await restore(plinth, named, { query });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'backup_not_supported']);
      expect(answer.body.error.message).toContain(`${first}, ${second}`);
      expect(await namesOf(source.id)).toEqual([]);
    }
  });
});

describe('A dry run', () => {
  it('fails if the restore would fail, and leaves nothing behind', async () => {
    const broken = await forged(archive, ({ members }) => {
      const dump = members.get('schema/post-data.sql')?.toString() ?? '';
      members.set('schema/post-data.sql', Buffer.from(`${dump}\nselect no_such_function();\n`));
    });
    const answer = await restore(plinth, broken, { query: '?dry_run=true' });
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'restore_failed']);
    expect(answer.body.error.message).toContain('no_such_function');
    expect(await namesOf(project.id)).toEqual([]);
  });

  it('counts the rows that PostgreSQL accepts, and leaves no role and no project', async () => {
    const before = (await plinth.admin.get('/admin/v1/projects')).body;
    const answer = await restore(plinth, archive, { query: '?dry_run=true' });
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({ id: project.id, slug: project.slug, dry_run: true, skipped_settings: [] }),
    ]);
    expect(await namesOf(project.id)).toEqual([]);
    expect((await plinth.admin.get('/admin/v1/projects')).body).toEqual(before);
  });
});

describe('Roles of a forged archive', () => {
  afterEach(() => remove());
  const withRoles = (change: (secrets: { roles: Record<string, unknown[]> }) => void): Promise<Buffer> =>
    forged(archive, ({ secrets }) => change(secrets as { roles: Record<string, unknown[]> }));
  const member = (role: string, name: string): object => ({
    ...{ role, member: name },
    ...{ admin: true, inherit: true, set: true },
  });

  it('change nothing of the server', async () => {
    const { id } = await plinth.createProject({ name: 'Stranger' });
    const stranger = await accessOf(plinth, id);
    // Compares only shared roles and the roles of the stranger, because other tests use the server too. Any
    // owner may give anon a password, but nobody can log in with it.
    const state = (): Promise<unknown> =>
      asSuperuser('postgres', async (client) => {
        const { rows } = await client.query(
          `select array(select (rolname, case when rolname not in ('anon', 'authenticated', 'service_role')
             then rolpassword end, rolsuper, rolcanlogin)::text from pg_authid
             where rolname ~ $1 or strpos(rolname, $2) > 0 order by 1) as roles,
           array(select (m.roleid::regrole, m.member::regrole)::text from pg_auth_members m
             where m.member::regrole::text ~ $1 or strpos(m.member::regrole::text, $2) > 0 order by 1) as members`,
          ['^(pg_.*|postgres|anon|authenticated|service_role)$', id],
        );
        return rows;
      });
    const before = await state();
    const [own] = [`plinth_${project.id}_owner`];
    const hostile = await withRoles(({ roles: archived }) => {
      const [first] = archived.roles as object[];
      archived.roles?.push({ ...first, name: 'postgres', password: 'known' }, { ...first, name: 'anon' });
      archived.memberships?.push(
        ...['postgres', 'pg_read_server_files', 'service_role', stranger.owner_role].map((role) =>
          member(role, editor),
        ),
        ...['anon', stranger.login_role, 'postgres'].map((name) => member(editor, name)),
        member('pg_read_server_files', own),
      );
      archived.grants?.push(
        { role: 'anon', privilege: 'CONNECT' },
        { role: stranger.owner_role, privilege: 'CONNECT' },
      );
    });
    const answer = await restore(plinth, hostile, { query: '?keep_keys=true' });
    expect([answer.status, answer.body.error]).toEqual([201, undefined]);
    expect(await state()).toEqual(before);
    expect(
      await sqlstateOf(
        asOwner(stranger, (client) => client.query('select'), { database: `plinth_${project.id}` }),
      ),
    ).toBe('42501');
    expect(await seenByEditor()).toEqual([{ text: 'a' }]);
  });

  it.each([
    ['a reserved name', { name: 'pg_mine' }, 'restore_failed'],
    ['no limit', { limit: 'none' }, 'invalid_archive'],
    ['SQL for a time', { until: `2040' superuser` }, 'restore_failed'],
  ])('are refused with %s', async (_title, change, code) => {
    const hostile = await withRoles(({ roles: archived }) =>
      Object.assign(archived.roles?.[0] as object, change),
    );
    for (const query of ['?dry_run=true', '']) {
      const answer = await restore(plinth, hostile, { query });
      expect([answer.status, answer.body.error?.code]).toEqual([400, code]);
      expect(await namesOf(project.id)).toEqual([]);
    }
  });
});
