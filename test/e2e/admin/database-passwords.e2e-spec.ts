/** The password of a project's owner role is changed with the keys and when staff leave; changes by SQL are reported. */
import { Client } from 'pg';
import { ProjectPools } from '../../../src/database/pools/project-pools';
import { ProjectRegistry } from '../../../src/projects/project-registry.service';
import { eventually } from '../../support/eventually';
import {
  accessOf,
  asOwner,
  asSuperuser,
  type DatabaseAccess,
  sqlstateOf,
} from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { newPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';

const INVALID_PASSWORD = '28P01';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
});
beforeEach(async () => {
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const base = (): string => `/admin/v1/projects/${project.id}`;
const enter = (access: DatabaseAccess): Promise<string | null> =>
  sqlstateOf(asOwner(access, (client) => client.query('select 1')));
const entries = async (action: string): Promise<{ actor: string; details: unknown }[]> =>
  (await plinth.admin.get(`/admin/v1/audit-log?project_id=${project.id}&action=${action}`)).body;

/** Opens a session. @returns it and a promise that resolves when it ends */
async function session({ host, port, owner_role: user, owner_password: password, database }: DatabaseAccess) {
  const client = new Client({ host, port, user, password, database });
  const ended = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', () => undefined);
  await client.connect();
  return { client, ended };
}

it('a rotation of the keys changes the password of the owner role and ends its sessions', async () => {
  const before = await accessOf(plinth, project.id);
  const { ended } = await session(before);
  const rotated = await plinth.admin.post(`${base()}/keys/rotate`, { grace_seconds: 600 });
  expect(rotated.status).toBe(200);
  await ended;
  expect(await enter(before)).toBe(INVALID_PASSWORD);
  const after = await accessOf(plinth, project.id);
  expect(after.owner_password).not.toBe(before.owner_password);
  expect(await enter(after)).toBeNull();
  expect(await project.sql('select 1 as one')).toEqual([{ one: 1 }]);
  expect((await project.anon.get('/rest/v1/none')).status).toBe(404);
  expect(await entries('project.database.restore_access')).toEqual([]);
});

it('concurrent rotations leave one password that works', async () => {
  const rotate = (): Promise<{ status: number }> => plinth.admin.post(`${base()}/keys/rotate`);
  const answers = await Promise.all([rotate(), rotate(), rotate()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await enter(await accessOf(plinth, project.id))).toBeNull();
  expect(await entries('project.database.restore_access')).toEqual([]);
});

it.each([
  ['keeps the password', '', null],
  ['changes the password on request', '?rotate_database_password=true', INVALID_PASSWORD],
])('a developer who is removed from the project %s', async (_title, query, expected) => {
  const developer = await newPerson(plinth, null, [{ id: project.id, role: 'developer' }]);
  const known = (await developer.http.get(`${base()}/database`)).body as DatabaseAccess;
  const gone = await plinth.admin.delete(`${base()}/people/${developer.id}${query}`);
  expect(gone.status).toBe(204);
  expect(await enter(known)).toBe(expected);
  expect(await enter(await accessOf(plinth, project.id))).toBeNull();
  const [entry] = await entries('project.database.rotate');
  expect(entry?.actor ?? null).toBe(expected === null ? null : 'platform-admin-key');
  const wrong = await plinth.admin.unchecked().delete(`${base()}/people/x?rotate_database_password=maybe`);
  expect(wrong.status).toBe(400);
});

describe.each([
  ['a developer of the project', null, 'developer'],
  ['an operator of the installation', 'operator', null],
] as const)('%s', (_title, role, projectRole) => {
  const wish = { rotate_database_password: true };
  const ENDS: Record<string, (id: string, isWished: boolean) => Promise<{ status: number }>> = {
    'is deleted': (id, isWished) =>
      plinth.admin.delete(`/admin/v1/people/${id}${isWished ? '?rotate_database_password=true' : ''}`),
    'is disabled': (id, isWished) =>
      plinth.admin.patch(`/admin/v1/people/${id}`, { disabled: true, ...(isWished ? wish : {}) }),
    'gets a lower role': (id, isWished) =>
      projectRole === null
        ? plinth.admin.patch(`/admin/v1/people/${id}`, { role: 'auditor', ...(isWished ? wish : {}) })
        : plinth.admin.put(`${base()}/people/${id}`, { role: 'viewer', ...(isWished ? wish : {}) }),
  };

  it.each(Object.keys(ENDS))('who %s keeps the password valid unless a change is requested', async (end) => {
    const projects = projectRole === null ? [] : [{ id: project.id, role: projectRole }];
    const members = [await newPerson(plinth, role, projects), await newPerson(plinth, role, projects)];
    const known = (await members[0]?.http.get(`${base()}/database`))?.body as DatabaseAccess;
    for (const [index, isWished] of [false, true].entries()) {
      const answer = await ENDS[end]?.(members[index]?.id ?? '', isWished);
      expect([200, 204]).toContain(answer?.status);
      expect([isWished, await enter(known)]).toEqual([isWished, isWished ? INVALID_PASSWORD : null]);
    }
    expect(await enter(await accessOf(plinth, project.id))).toBeNull();
    expect(await entries('project.database.rotate')).toMatchObject([{ actor: 'platform-admin-key' }]);
  });
});

it('the removal of a staff member names databases whose password cannot be changed, and changes the others', async () => {
  const other = await plinth.createProject();
  const roles = [project, other].map(({ id }) => ({ id, role: 'admin' as const }));
  const member = await newPerson(plinth, null, roles);
  const known = await Promise.all([project, other].map(({ id }) => accessOf(plinth, id)));
  const broken = known[0] as DatabaseAccess;
  await asSuperuser('postgres', (client) =>
    client.query(`alter role "${broken.owner_role}" rename to "${broken.owner_role}_gone"`),
  );
  const answer = await plinth.admin.delete(`/admin/v1/people/${member.id}?rotate_database_password=true`);
  expect([answer.status, answer.body.error?.message]).toEqual([503, expect.stringContaining(project.slug)]);
  expect((await plinth.admin.get('/admin/v1/people')).body).not.toContainEqual(
    expect.objectContaining({ id: member.id }),
  );
  expect(await enter(known[1] as DatabaseAccess)).toBe(INVALID_PASSWORD);
  await asSuperuser('postgres', (client) =>
    client.query(`alter role "${broken.owner_role}_gone" rename to "${broken.owner_role}"`),
  );
});

it('a password that the owner sets by SQL is reset once, and the audit log records it', async () => {
  const access = await accessOf(plinth, project.id);
  await project.sql(`alter role current_user password 'my own'`);
  expect(await enter({ ...access, owner_password: 'my own' })).toBeNull();
  const readTogether = Array.from({ length: 4 }, () => accessOf(plinth, project.id));
  for (const found of await Promise.all(readTogether)) expect(found).toEqual(access);
  expect(await enter(access)).toBeNull();
  expect(await entries('project.database.restore_access')).toMatchObject([
    { actor: 'plinth', details: { role: access.owner_role, reason: 'changed by SQL' } },
  ]);
});

it('a request that read the password before a rotation does not undo the rotation', async () => {
  const found = await plinth.app.get(ProjectRegistry).get(project.id);
  const pools = plinth.app.get(ProjectPools);
  await pools.evict(project.id);
  const late = pools.use({ ...found.database, password: 'replaced' }, () => Promise.resolve());
  await expect(late).rejects.toMatchObject({ kind: 'login_refused' });
  await project.signUp();
  await accessOf(plinth, project.id);
  expect(await entries('project.database.restore_access')).toEqual([]);
});

it('a refusal that arrives after the repair causes no other repair', async () => {
  const { database } = await plinth.app.get(ProjectRegistry).get(project.id);
  plinth.app.get(ProjectPools).onRefused(database);
  for (let request = 0; request < 20; request += 1) await accessOf(plinth, project.id);
  expect(await entries('project.database.restore_access')).toEqual([]);
});

it.each(['the rotation', 'the next connection'])(
  'a password that code of the project sets for the login role is reset by %s',
  async (by) => {
    const { login_role: role, ...access } = await accessOf(plinth, project.id);
    const enterAsLogin = (): Promise<string | null> =>
      enter({ ...access, login_role: role, owner_role: role, owner_password: 'taken' });
    // This function runs as the login role.
    await project.sql(`create or replace function auth.custom_claims(user_id uuid) returns jsonb language plpgsql as $$
      begin execute format('alter role %I password ''taken''', current_user); return '{}'; end $$`);
    await project.signUp();
    expect(await enterAsLogin()).toBeNull();
    if (by === 'the rotation') await plinth.admin.post(`${base()}/keys/rotate`, { grace_seconds: 600 });
    else
      await asSuperuser('postgres', (client) =>
        client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]),
      );
    await eventually(async () => expect((await project.service.get('/rest/v1/none')).status).toBe(404));
    expect(await enterAsLogin()).toBe(INVALID_PASSWORD);
    // The entry is written after the password is set, so a request can see the password first.
    await eventually(async () =>
      expect(await entries('project.database.restore_access')).toMatchObject(
        by === 'the rotation' ? [] : [{ actor: 'plinth', details: { role, reason: 'changed by SQL' } }],
      ),
    );
  },
);
