/** Groups of staff and of users that directories provision by SCIM 2.0, with the bodies that Entra ID and Okta document. */
import { randomUUID } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import { Directory, GROUP_SCHEMA, PATCH_SCHEMA } from '../../support/scim';
import { newPerson, type TestPerson } from '../../support/staff';
import { TestProject, type TestUser } from '../../support/test-project';

const ROLES = {
  Operators: { role: 'operator' },
  'f1c9b9b2-0000-4000-8000-000000000001': { role: 'auditor' },
  Owners: { role: 'owner' },
  Shop: { projects: { 'scim-shop': 'developer' } },
};

let plinth: TestPlinth;
let project: TestProject;
let staff: Directory;
let users: Directory;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: {
      STAFF_SIGN_IN: JSON.stringify({
        oidc: { issuer: 'https://issuer.invalid', client_id: 'plinth', roles: ROLES },
      }),
    },
  });
  project = await TestProject.create(plinth, { slug: 'scim-shop' });
  staff = await Directory.connect(plinth, '');
  users = await Directory.connect(plinth, `/projects/${project.id}`);
  await project.sql(`create table deals (id int primary key); insert into deals values (1);
    create policy sales on deals using (auth.jwt() -> 'app_metadata' -> 'groups' ? 'Sales')`);
});
afterAll(() => plinth.stop());

const signInAgain = async (user: TestUser): Promise<TestUser> => {
  const { email, password } = user;
  const { status, body, text } = await project.anon.post(`${project.auth}/login`, { email, password });
  if (status !== 200) throw new Error(text);
  const http = project.client(project.anonKey, body.session.access_token);
  return { ...user, http };
};

const deals = async (user: TestUser): Promise<unknown> => {
  const { status, body } = await user.http.get('/rest/v1/deals');
  return status === 200 ? body : status;
};

/** Sends requests continuously. @returns the statuses of requests that began after the response to the change */
async function statusesAfter(
  change: () => Promise<unknown>,
  request: () => Promise<{ status: number }>,
): Promise<number[]> {
  const after: number[] = [];
  let isAnswered = false;
  const polls = Array.from({ length: 3 }, async () => {
    while (after.length < 10) {
      const isAfter = isAnswered;
      const { status } = await request();
      if (isAfter) after.push(status);
    }
  });
  await change();
  isAnswered = true;
  await Promise.all(polls);
  return after;
}

describe.each([
  ['staff', () => staff],
  ['the users of a project', () => users],
])('for %s', (title, directory) => {
  const name = (): string => `Group ${randomUUID()}`;

  it('accepts the requests that Entra ID documents', async () => {
    const d = directory();
    const [member, displayName] = [await d.newUser(), name()];
    const externalId = randomUUID();
    const created = await d.http.post(`${d.base}/Groups`, {
      schemas: [GROUP_SCHEMA, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId,
      displayName,
      meta: { resourceType: 'Group' },
    });
    expect(created.status).toBe(201);
    const { id } = created.body;
    expect(created.body).toEqual({
      schemas: [GROUP_SCHEMA],
      id,
      externalId,
      displayName,
      members: [],
      meta: {
        resourceType: 'Group',
        created: expect.any(String),
        lastModified: expect.any(String),
        location: `http://plinth.test${d.base}/Groups/${id}`,
      },
    });
    const { members: _members, ...withoutMembers } = created.body;
    const got = await d.http.get(`${d.base}/Groups/${id}?excludedAttributes=members`);
    expect([got.status, got.body]).toEqual([200, withoutMembers]);
    const filter = encodeURIComponent(`displayName eq "${displayName.toUpperCase()}"`);
    const found = await d.http.get(`${d.base}/Groups?excludedAttributes=members&filter=${filter}`);
    expect(found.body).toMatchObject({ totalResults: 1, startIndex: 1, itemsPerPage: 1 });
    expect(found.body.Resources).toEqual([withoutMembers]);
    const updated = `${randomUUID()}updatedDisplayName`;
    const value = [{ $ref: null, value: member }];
    for (const operation of [
      { op: 'Replace', path: 'displayName', value: updated },
      { op: 'Add', path: 'members', value },
    ])
      expect(await d.patchGroup(id, operation)).toMatchObject({ status: 204, text: '' });
    expect((await d.http.get(`${d.base}/Groups/${id}`)).body).toMatchObject({
      displayName: updated,
      members: [{ value: member, $ref: `http://plinth.test${d.base}/Users/${member}` }],
    });
    const membership = encodeURIComponent(`id eq "${id}" and members eq "${member}"`);
    expect((await d.http.get(`${d.base}/Groups?filter=${membership}`)).body.totalResults).toBe(1);
    expect((await d.patchGroup(id, { op: 'Remove', path: 'members', value })).status).toBe(204);
    expect((await d.http.get(`${d.base}/Groups?filter=${membership}`)).body.totalResults).toBe(0);
    expect(await d.members(id)).toEqual([]);
    expect((await d.http.delete(`${d.base}/Groups/${id}`)).status).toBe(204);
    expect((await d.http.get(`${d.base}/Groups/${id}`)).status).toBe(404);
  });

  it('accepts the requests that Okta documents', async () => {
    const d = directory();
    const [one, two] = [await d.newUser(), await d.newUser()];
    const displayName = name();
    const created = await d.createGroup(displayName);
    expect(created.body).toMatchObject({ displayName, members: [], meta: { resourceType: 'Group' } });
    const { id } = created.body;
    const display = 'test.user@okta.local';
    await d.patchGroup(id, { op: 'replace', value: { id, displayName: `${displayName}0` } });
    await d.patchGroup(id, { op: 'add', path: 'members', value: [{ value: one, display }] });
    const moved = await d.patchGroup(
      id,
      { op: 'remove', path: `members[value eq "${one}"]` },
      { op: 'add', path: 'members', value: [{ value: two, display }] },
    );
    expect([moved.status, await d.members(id)]).toEqual([204, [two]]);
    const both = [one, two].map((value) => ({ value, display }));
    await d.patchGroup(id, { op: 'replace', path: 'members', value: both });
    expect(await d.members(id)).toEqual([one, two].sort());
    const put = { schemas: [GROUP_SCHEMA], id, displayName, members: [{ value: one, display }] };
    const replaced = await d.http.put(`${d.base}/Groups/${id}`, put);
    expect([replaced.status, replaced.body]).toMatchObject([200, { displayName, members: [{ value: one }] }]);
    expect((await d.http.get(`${d.base}/Users/${one}`)).body.groups).toEqual([
      { value: id, $ref: `http://plinth.test${d.base}/Groups/${id}`, display: displayName, type: 'direct' },
    ]);
    expect((await d.patchGroup(id, { op: 'remove', path: 'members' })).status).toBe(204);
    expect(await d.members(id)).toEqual([]);
    const page = await d.http.get(`${d.base}/Groups?startIndex=1&count=1`);
    expect(page.body).toMatchObject({ startIndex: 1, itemsPerPage: 1, totalResults: expect.any(Number) });
  });

  it('applies operations in their order, and forgets members who are deleted', async () => {
    const d = directory();
    const [one, two, three] = [await d.newUser(), await d.newUser(), await d.newUser()];
    const id = await d.newGroup(name(), [one]);
    const members = (...ids: string[]): object[] => ids.map((value) => ({ value }));
    await d.patchGroup(
      id,
      { op: 'add', path: 'members', value: members(two) },
      { op: 'remove', path: 'members', value: members(two, randomUUID()) },
      { op: 'add', value: { members: members(three) } },
      { op: 'remove', path: `members[value eq "${one}"]` },
      { op: 'add', path: `${GROUP_SCHEMA}:members`, value: members(one) },
    );
    expect(await d.members(id)).toEqual([one, three].sort());
    await d.http.delete(`${d.base}/Users/${three}`);
    expect(await d.members(id)).toEqual([one]);
  });

  it('takes a thousand members in a request', async () => {
    const d = directory();
    const people = title === 'staff' ? 'staff_people (email, email_key, name)' : null;
    const ids: string[] = [];
    if (people === null) {
      const rows = await project.sql(`insert into auth.users (id, email, email_key, name)
        select gen_random_uuid(), 'm' || n || '@many.example', 'm' || n || '@many.example', 'M'
        from generate_series(1, 1000) n returning id`);
      ids.push(...rows.map(({ id }: { id: string }) => id));
    } else for (let n = 0; n < 20; n += 1) ids.push(await d.newUser());
    const id = await d.newGroup(name());
    const value = ids.map((one) => ({ $ref: null, value: one }));
    expect((await d.patchGroup(id, { op: 'Add', path: 'members', value })).status).toBe(204);
    expect(await d.members(id)).toEqual([...ids].sort());
    const operations = ids.map((one) => ({ op: 'remove', path: `members[value eq "${one}"]` }));
    expect((await d.patchGroup(id, ...operations)).status).toBe(204);
    expect(await d.members(id)).toEqual([]);
  });

  it.each([
    ['a taken name', 'POST', '/Groups', { displayName: 'TAKEN' }, 409, 'uniqueness'],
    ['no name', 'POST', '/Groups', { displayName: ' ' }, 400, 'invalidValue'],
    ['a long name', 'POST', '/Groups', { displayName: 'x'.repeat(256) }, 400, 'invalidValue'],
    ['a list', 'POST', '/Groups', [], 400, 'invalidSyntax'],
    [
      'an unknown member',
      'POST',
      '/Groups',
      { displayName: 'g', members: [{ value: randomUUID() }] },
      400,
      'invalidValue',
    ],
    [
      'a member that is not an id',
      'POST',
      '/Groups',
      { displayName: 'g', members: [{ value: 'x' }] },
      400,
      'invalidValue',
    ],
    [
      'a group as member',
      'POST',
      '/Groups',
      { displayName: 'g', members: [{ value: randomUUID(), type: 'Group' }] },
      400,
      'invalidValue',
    ],
    [
      'too many members',
      'POST',
      '/Groups',
      { displayName: 'g', members: Array(5_001).fill({ value: 'x' }) },
      400,
      'invalidValue',
    ],
    ['another filter', 'GET', '/Groups?filter=displayName%20sw%20%22a%22', undefined, 400, 'invalidFilter'],
    ['a truncated filter', 'GET', '/Groups?filter=id%20eq%20%22a%22%20and', undefined, 400, 'invalidFilter'],
    [
      'another filter of members',
      'PATCH',
      '/Groups/<id>',
      { Operations: [{ op: 'remove', path: 'members[display eq "x"]' }] },
      400,
      'invalidPath',
    ],
    [
      'the removal of the name',
      'PATCH',
      '/Groups/<id>',
      { Operations: [{ op: 'remove', path: 'displayName' }] },
      400,
      'invalidValue',
    ],
    [
      'too many operations',
      'PATCH',
      '/Groups/<id>',
      { Operations: Array(1_001).fill({ op: 'add' }) },
      400,
      'invalidSyntax',
    ],
    ['an unknown group', 'PUT', `/Groups/${randomUUID()}`, { displayName: 'g' }, 404, undefined],
    ['an unknown group', 'DELETE', `/Groups/${randomUUID()}`, undefined, 404, undefined],
    ['an unknown schema', 'GET', '/Schemas/urn:x', undefined, 404, undefined],
  ])('refuses %s', async (_what, method, path, body, status, scimType) => {
    const d = directory();
    const { body: taken } = await d.http.get(
      `${d.base}/Groups?filter=${encodeURIComponent('displayName eq "taken"')}`,
    );
    const id = taken.Resources[0]?.id ?? (await d.newGroup('Taken'));
    const answer = await d.http.send(
      method,
      d.base + path.replace('<id>', id),
      body === undefined ? {} : { body },
    );
    expect([answer.status, answer.body.status, answer.body.scimType]).toEqual([
      status,
      String(status),
      scimType,
    ]);
  });

  it('describes itself', async () => {
    const d = directory();
    const schemas = (await d.http.get(`${d.base}/Schemas`)).body;
    expect(schemas.Resources.map(({ name: one }: { name: string }) => one)).toEqual(['User', 'Group']);
    const group = (await d.http.get(`${d.base}/Schemas/${GROUP_SCHEMA}`)).body;
    expect(group.attributes.map(({ name: one }: { name: string }) => one)).toEqual([
      'displayName',
      'members',
    ]);
    expect((await d.http.get(`${d.base}/ResourceTypes/Group`)).body).toMatchObject({
      endpoint: '/Groups',
      schema: GROUP_SCHEMA,
    });
  });

  it('limits the total length of the group names of a person', async () => {
    const d = directory();
    const member = await d.newUser();
    for (let n = 0; n < 4; n += 1) await d.newGroup(`${n}${randomUUID()}`.padEnd(250, 'x'), [member]);
    const refused = await d.createGroup(`4${randomUUID()}`.padEnd(250, 'x'), [member]);
    expect([refused.status, refused.body.detail]).toEqual([413, expect.stringContaining('more groups')]);
    expect((await d.http.get(`${d.base}/Users/${member}`)).body.groups).toHaveLength(4);
  });
});

describe('users of a project', () => {
  it('have the names of their groups in tokens, for policies; removal from a group ends the tokens that name it', async () => {
    const user = await project.signUp();
    expect(await deals(user)).toEqual([]);
    const id = await users.newGroup('Sales', [user.id]);
    // The next token has the added group.
    expect(await deals(user)).toEqual([]);
    let session = await signInAgain(user);
    expect(await deals(session)).toEqual([{ id: 1 }]);
    const value = [{ value: user.id }];
    for (const lose of [
      (): Promise<unknown> => users.patchGroup(id, { op: 'Remove', path: 'members', value }),
      (): Promise<unknown> => users.patchGroup(id, { op: 'replace', path: 'displayName', value: 'Former' }),
      (): Promise<unknown> => users.http.delete(`${users.base}/Groups/${id}`),
    ]) {
      const { http } = session;
      const statuses = await statusesAfter(lose, () => http.get('/rest/v1/deals'));
      expect(new Set(statuses)).toEqual(new Set([401]));
      expect(await deals(await signInAgain(user))).toEqual([]);
      await users.patchGroup(id, { op: 'replace', value: { displayName: 'Sales' } });
      await users.patchGroup(id, { op: 'Add', path: 'members', value });
      session = await signInAgain(user);
    }
  });

  it('keep other app_metadata, and the sessions of members who stay', async () => {
    const [user, other] = [await project.signUp(), await project.signUp()];
    const path = `/p/${project.slug}/auth/v1/admin/users/${user.id}`;
    await project.service.put(path, { app_metadata: { plan: 'pro' } });
    const id = await users.newGroup(randomUUID(), [user.id, other.id]);
    await users.patchGroup(id, { op: 'remove', path: `members[value eq "${other.id}"]` });
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
    const { body } = await project.service.get(path);
    expect(body.app_metadata).toMatchObject({ plan: 'pro', groups: [expect.any(String)] });
    const { body: without } = await project.service.get(path.replace(user.id, other.id));
    expect(without.app_metadata.groups).toBeUndefined();
  });
});

describe('staff', () => {
  const roleOf = async ({ http }: TestPerson): Promise<unknown> =>
    (await http.get('/admin/v1/session')).body.person.role;

  it('have the roles of their groups immediately, and lose them with the group', async () => {
    const person = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
    const bearer = await tokenOf(person);
    expect((await bearer.get('/admin/v1/people')).status).toBe(403);
    const id = await staff.newGroup('Operators', [person.id]);
    expect(await roleOf(person)).toBe('operator');
    expect((await bearer.get('/admin/v1/people')).status).toBe(200);
    const value = [{ $ref: null, value: person.id }];
    const remove = { op: 'Remove', path: 'members', value };
    const statuses = await statusesAfter(
      () => staff.patchGroup(id, remove),
      () => bearer.get('/admin/v1/people'),
    );
    expect(new Set(statuses)).toEqual(new Set([403]));
    expect(await roleOf(person)).toBeNull();
    await staff.patchGroup(id, { op: 'Add', path: 'members', value });
    expect(await roleOf(person)).toBe('operator');
    expect((await staff.http.delete(`${staff.base}/Groups/${id}`)).status).toBe(204);
    expect(await roleOf(person)).toBeNull();
  });

  it('get roles of projects, also by the external id of a group, and keep a role that an owner granted', async () => {
    const [person, given] = [await newPerson(plinth, null), await newPerson(plinth, 'auditor')];
    const id = await staff.newGroup('Shop', [person.id]);
    expect((await person.http.get(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    await staff.patchGroup(id, { op: 'remove', path: 'members' });
    expect((await person.http.get(`/admin/v1/projects/${project.id}`)).status).toBe(404);
    const externalId = 'f1c9b9b2-0000-4000-8000-000000000001';
    const body = {
      displayName: randomUUID(),
      externalId,
      members: [{ value: person.id }, { value: given.id }],
    };
    const { body: group } = await staff.http.post(`${staff.base}/Groups`, body);
    expect([await roleOf(person), await roleOf(given)]).toEqual(['auditor', 'auditor']);
    await plinth.admin.patch(`/admin/v1/people/${given.id}`, { role: 'operator' });
    await staff.patchGroup(group.id, { op: 'remove', path: 'members' });
    expect([await roleOf(person), await roleOf(given)]).toEqual([null, 'operator']);
    await staff.http.delete(`${staff.base}/Groups/${id}`);
  });

  it('always include at least one owner', async () => {
    const owner = await newPerson(plinth, null);
    const id = await staff.newGroup('Owners', [owner.id]);
    expect(await roleOf(owner)).toBe('owner');
    const refused = await staff.patchGroup(id, { op: 'remove', path: 'members' });
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('last owner')]);
    expect([await roleOf(owner), await staff.members(id)]).toEqual(['owner', [owner.id]]);
  });

  it('are written to the audit log', async () => {
    const person = await newPerson(plinth, null);
    await staff.newGroup(randomUUID(), [person.id]);
    const { body } = await plinth.admin.get('/admin/v1/audit-log?action=group.scim_create&limit=1');
    expect(JSON.stringify(body)).toContain('"gained":1');
  });
});

async function tokenOf(person: TestPerson): Promise<typeof person.http> {
  const { body } = await person.http.post('/admin/v1/tokens', {
    name: 'ci',
    scopes: ['read'],
    expires_in: 3600,
  });
  return plinth.http.with({ authorization: `Bearer ${body.token}` });
}

it('does not show the groups of a project to the directory of another', async () => {
  const other = await plinth.createProject();
  const stranger = await Directory.connect(plinth, `/projects/${other.id}`);
  const id = await users.newGroup(randomUUID());
  expect((await stranger.http.get(`${stranger.base}/Groups/${id}`)).status).toBe(404);
  expect((await stranger.http.get(`${users.base}/Groups/${id}`)).status).toBe(401);
  const body = { schemas: [PATCH_SCHEMA], Operations: [] };
  expect((await stranger.http.patch(`${users.base}/Groups/${id}`, body)).status).toBe(401);
});
