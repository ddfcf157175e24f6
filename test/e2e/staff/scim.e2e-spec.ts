/** Directories that provision staff and users of projects by SCIM 2.0, with the requests of Entra ID and Okta. */
import { randomUUID } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import { Directory, newEmail, USER_SCHEMA as USER } from '../../support/scim';
import { newPerson, proveAddress, signIn, STAFF_PASSWORD } from '../../support/staff';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
let staff: Directory;
let users: Directory;

beforeAll(async () => {
  plinth = await TestPlinth.start({});
  [project, other] = [await plinth.createProject(), await plinth.createProject()];
  staff = await Directory.connect(plinth, '');
  users = await Directory.connect(plinth, `/projects/${project.id}`);
});
afterAll(() => plinth.stop());

describe.each([
  ['staff', () => staff],
  ['the users of a project', () => users],
])('for %s', (_title, directory) => {
  it('creates a person, and finds them by userName and externalId', async () => {
    const [email, externalId] = [newEmail(), randomUUID()];
    expect(await directory().find(`userName eq "${email}"`)).toMatchObject({
      totalResults: 0,
      Resources: [],
    });
    const created = await directory().create(email, { externalId, title: 'Countess' });
    expect(created.status).toBe(201);
    expect(created.headers.get('content-type')).toContain('application/scim+json');
    const { id } = created.body;
    expect(created.body).toMatchObject({
      schemas: [USER],
      userName: email,
      displayName: 'Ada L',
      active: true,
      externalId,
    });
    expect(created.body.meta).toMatchObject({
      resourceType: 'User',
      location: `http://plinth.test${directory().base}/Users/${id}`,
    });
    for (const filter of [
      `userName eq "${email.toUpperCase()}"`,
      `emails[type eq "work"].value eq "${email}"`,
      `externalId eq "${externalId}"`,
      `id eq "${id}"`,
    ])
      expect(await directory().find(filter)).toMatchObject({
        totalResults: 1,
        Resources: [{ id, externalId }],
      });
    const again = await directory().create(email);
    expect([again.status, again.body]).toEqual([
      409,
      expect.objectContaining({ scimType: 'uniqueness', status: '409' }),
    ]);
  });

  it('finds the person that last received an external id', async () => {
    const externalId = randomUUID();
    const ids = [];
    for (let n = 0; n < 2; n += 1) ids.push((await directory().create(newEmail(), { externalId })).body.id);
    const found = await directory().find(`externalId eq "${externalId}"`);
    expect(found).toMatchObject({ totalResults: 1, Resources: [{ id: ids[1] }] });
    expect((await directory().find(`id eq "${ids[0]}"`)).Resources[0].externalId).toBeUndefined();
  });

  it('lists people in pages', async () => {
    await directory().create(newEmail());
    const { body } = await directory().http.get(`${directory().base}/Users?startIndex=2&count=1`);
    expect(body).toMatchObject({ startIndex: 2, itemsPerPage: 1, Resources: [{ schemas: [USER] }] });
    const counted = await directory().http.get(`${directory().base}/Users?count=0`);
    expect(counted.body).toMatchObject({ itemsPerPage: 0, totalResults: body.totalResults });
  });

  it('changes people by PATCH and PUT', async () => {
    const { id } = (await directory().create(newEmail())).body;
    const email = newEmail();
    const patched = await directory().patch(
      id,
      { op: 'Replace', path: 'userName', value: email },
      { op: 'Add', path: 'externalId', value: 'e-1' },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: email },
      { op: 'replace', value: { displayName: 'Ada King', 'urn:example:x': 1 } },
    );
    expect([patched.status, patched.body]).toEqual([
      200,
      expect.objectContaining({ id, userName: email, displayName: 'Ada King', externalId: 'e-1' }),
    ]);
    const put = await directory().http.put(`${directory().base}/Users/${id}`, {
      userName: email,
      displayName: 'Ada',
    });
    expect(put.body).toMatchObject({ displayName: 'Ada', active: true });
    expect(put.body.externalId).toBeUndefined();
    const { body: taken } = await directory().create(newEmail());
    expect(
      (await directory().patch(id, { op: 'replace', path: 'userName', value: taken.userName })).status,
    ).toBe(409);
  });

  it.each([
    ['an unknown filter', '/Users?filter=title%20sw%20%22a%22', 'GET', undefined, 400],
    ['a truncated filter', '/Users?filter=userName%20eq%20%22a', 'GET', undefined, 400],
    ['a userName that is not an address', '/Users', 'POST', { userName: 'ada' }, 400],
    ['a body that is a list', '/Users', 'POST', [], 400],
    ['malformed operations', `/Users/${randomUUID()}`, 'PATCH', { Operations: [1] }, 400],
    [
      'too many operations',
      `/Users/${randomUUID()}`,
      'PATCH',
      { Operations: Array(101).fill({ op: 'add' }) },
      400,
    ],
    [
      'an active that is not a boolean',
      `/Users/${randomUUID()}`,
      'PATCH',
      { Operations: [{ op: 'replace', path: 'active', value: 'no' }] },
      400,
    ],
    ['an unknown person', `/Users/${randomUUID()}`, 'GET', undefined, 404],
    ['a malformed id', '/Users/..%2f', 'GET', undefined, 404],
  ])('refuses %s', async (_what, path, method, body, status) => {
    const answer = await directory().http.send(
      method,
      directory().base + path,
      body === undefined ? {} : { body },
    );
    expect([answer.status, answer.body]).toEqual([
      status,
      expect.objectContaining({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
      }),
    ]);
  });

  it('describes what it supports', async () => {
    const { body } = await directory().http.get(`${directory().base}/ServiceProviderConfig`);
    expect(body).toMatchObject({ patch: { supported: true }, bulk: { supported: false } });
    expect((await directory().http.get(`${directory().base}/ResourceTypes`)).body.totalResults).toBe(2);
  });

  it('refuses a token that was replaced or deleted, and tokens of other directories', async () => {
    const strangers = [staff, users, await Directory.connect(plinth, `/projects/${other.id}`)].filter(
      (one) => one !== directory(),
    );
    for (const { http } of [
      ...strangers,
      { http: plinth.http },
      { http: plinth.admin },
      { http: project.service },
    ])
      expect((await http.get(`${directory().base}/Users`)).status).toBe(401);
  });
});

const DEACTIVATE = { op: 'Replace', path: 'active', value: 'False' };

it('a deactivated or deleted staff member loses all sessions and tokens', async () => {
  for (const act of ['deactivate', 'delete'] as const) {
    const person = await newPerson(plinth, 'operator');
    const { body } = await person.http.post('/admin/v1/tokens', {
      name: 'ci',
      scopes: ['read'],
      expires_in: 3600,
    });
    const bearer = plinth.http.with({ authorization: `Bearer ${body.token}` });
    expect((await bearer.get('/admin/v1/projects')).status).toBe(200);
    if (act === 'deactivate') expect((await staff.patch(person.id, DEACTIVATE)).body.active).toBe(false);
    else expect((await staff.http.delete(`${staff.base}/Users/${person.id}`)).status).toBe(204);
    expect([act, (await person.http.get('/admin/v1/session')).status]).toEqual([act, 401]);
    expect([act, (await bearer.get('/admin/v1/projects')).status]).toEqual([act, 401]);
    expect([act, (await signIn(plinth, person.email)).status]).toEqual([act, 401]);
  }
});

it('reactivates a staff member whom it deactivated, but not one whom an owner disabled', async () => {
  const person = await newPerson(plinth, 'auditor');
  await staff.patch(person.id, { op: 'replace', value: { active: false } });
  expect((await staff.patch(person.id, { op: 'replace', value: { active: true } })).body.active).toBe(true);
  expect((await signIn(plinth, person.email)).status).toBe(200);
  await plinth.admin.patch(`/admin/v1/people/${person.id}`, { disabled: true });
  const put = await staff.http.put(`${staff.base}/Users/${person.id}`, {
    userName: person.email,
    active: true,
  });
  expect([put.status, put.body.active]).toEqual([200, false]);
  // The owner reactivates a person whom the directory deactivated, and later disables the person.
  await plinth.admin.patch(`/admin/v1/people/${person.id}`, { disabled: false });
  await staff.patch(person.id, DEACTIVATE);
  await plinth.admin.patch(`/admin/v1/people/${person.id}`, { disabled: false });
  await staff.patch(person.id, { op: 'replace', path: 'displayName', value: 'Ada' });
  await plinth.admin.patch(`/admin/v1/people/${person.id}`, { disabled: true });
  const again = await staff.patch(person.id, { op: 'replace', path: 'active', value: true });
  expect(again.body.active).toBe(false);
  expect((await signIn(plinth, person.email)).status).toBe(401);
});

it('keeps the last owner, and leaves an address that it changes unverified', async () => {
  const owner = await newPerson(plinth, 'owner');
  await proveAddress(plinth, owner);
  const kept = await staff.patch(owner.id, DEACTIVATE);
  expect([kept.status, kept.body.detail]).toEqual([409, expect.stringContaining('last owner')]);
  expect((await staff.http.delete(`${staff.base}/Users/${owner.id}`)).status).toBe(409);
  expect((await owner.http.get('/admin/v1/session')).status).toBe(200);
  const renamed = await staff.patch(owner.id, { op: 'replace', path: 'userName', value: newEmail() });
  expect((await signIn(plinth, renamed.body.userName)).status).toBe(200);
  expect((await signIn(plinth, owner.email)).status).toBe(401);
});

it('a deactivated or deleted user of a project loses all sessions', async () => {
  for (const act of ['deactivate', 'delete'] as const) {
    const user = await project.signUp();
    expect((await user.http.get(`${project.auth}/user`)).status).toBe(200);
    if (act === 'deactivate') expect((await users.patch(user.id, DEACTIVATE)).body.active).toBe(false);
    else expect((await users.http.delete(`${users.base}/Users/${user.id}`)).status).toBe(204);
    expect([act, (await user.http.get(`${project.auth}/user`)).status]).toEqual([act, 401]);
    const again = await project.anon.post(`${project.auth}/login`, {
      email: user.email,
      password: user.password,
    });
    expect([act, [401, 403].includes(again.status)]).toEqual([act, true]);
    if (act === 'deactivate') {
      await users.patch(user.id, { op: 'replace', path: 'active', value: true });
      const back = await project.anon.post(`${project.auth}/login`, {
        email: user.email,
        password: user.password,
      });
      expect(back.status).toBe(200);
    }
  }
});

it('does not reactivate a user whom the application has banned', async () => {
  const user = await project.signUp();
  const until = new Date(plinth.clock.now() + 86_400_000).toISOString();
  await project.service.patch(`${project.auth}/admin/users/${user.id}`, { banned_until: until });
  const { body } = await users.http.put(`${users.base}/Users/${user.id}`, {
    userName: user.email,
    active: true,
  });
  expect(body.active).toBe(false);
});

it('only owners connect a staff directory and only administrators a project directory, after a confirmation of the session', async () => {
  const operator = await newPerson(plinth, 'operator');
  const admin = await newPerson(plinth, null, [{ id: project.id, role: 'admin' }]);
  const developer = await newPerson(plinth, null, [{ id: project.id, role: 'developer' }]);
  const path = `/admin/v1/projects/${project.id}/scim-token`;
  expect((await operator.http.post('/admin/v1/scim-token')).status).toBe(403);
  expect((await developer.http.post(path)).status).toBe(403);
  expect((await admin.http.post('/admin/v1/scim-token')).status).toBe(403);
  const made = await admin.http.post(path);
  expect(made.status).toBe(201);
  // The previous token is no longer valid.
  expect((await users.http.get(`${users.base}/Users`)).status).toBe(401);
  const renewed = plinth.http.with({ authorization: `Bearer ${made.body.token}` });
  expect((await renewed.get(`${users.base}/Users`)).status).toBe(200);
  plinth.clock.move(11 * 60);
  expect((await admin.http.delete(path)).body.error.code).toBe('step_up_required');
  await admin.http.post('/admin/v1/session/confirm', { password: STAFF_PASSWORD });
  expect((await plinth.admin.delete(path)).status).toBe(204);
  expect((await plinth.admin.delete(path)).status).toBe(404);
  expect((await renewed.get(`${users.base}/Users`)).status).toBe(401);
});
