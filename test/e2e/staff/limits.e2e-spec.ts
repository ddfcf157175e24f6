/** Limits on shared resources for a staff member or a stranger, and what staff see of each other. */
import { SETTINGS } from '../../../src/projects/project-settings';
import type { Setting } from '../../../src/projects/settings/setting';
import { EventReader } from '../../support/event-stream';
import { eventually } from '../../support/eventually';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { cookieOf, newPerson, personOf, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';

const MINUTE = 60;
const CHALLENGES = 20;
/** Numbers that only affect the project itself. Each other number is a limit that the installation sets. */
const OWN_NUMBERS = [
  'access_token_lifetime',
  'anonymous_user_lifetime',
  'max_file_size',
  'max_rows',
  'password_min_length',
  'refresh_token_lifetime',
  'sms_per_hour',
  'statement_timeout',
];
const NUMBERS = Object.entries<Setting<unknown>>(SETTINGS).filter(
  ([, { schema }]) => schema.type === 'integer',
);

let plinth: TestPlinth;
let project: TestProject;
let admin: TestPerson;
let viewer: TestPerson;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { AUTH_REQUESTS_PER_MINUTE: String(CHALLENGES) } });
  plinth.clock.hold();
  project = await plinth.createProject();
  admin = await newPerson(plinth, null, [{ id: project.id, role: 'admin' }]);
  viewer = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
});
afterAll(() => plinth.stop());

const codeOf = ({ body }: HttpAnswer): unknown => body?.error?.code;
const invite = ({ http }: TestPerson, email: string): Promise<HttpAnswer> =>
  http.post('/admin/v1/invitations', { email, projects: [{ id: project.id, role: 'viewer' }] });

describe('invitations', () => {
  it('of one staff member are delayed after thirty, without effect on other staff', async () => {
    let answer: HttpAnswer;
    let count = 0;
    do answer = await invite(admin, `flood-${count}@example.com`);
    while (answer.status === 201 && ++count < 100);
    expect([count, answer.status]).toEqual([30, 429]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(MINUTE);
    const other = await newPerson(plinth, null, [{ id: project.id, role: 'admin' }]);
    expect((await invite(other, 'flood-0@example.com')).status).toBe(201);
    plinth.clock.move(3 * MINUTE);
    expect((await invite(admin, 'later@example.com')).status).toBe(201);
    expect((await invite(admin, 'again@example.com')).status).toBe(429);
  });

  it('to one address are delayed for each inviter, without effect on other inviters', async () => {
    const people = [];
    for (let index = 0; index < 2; index += 1)
      people.push(await newPerson(plinth, null, [{ id: project.id, role: 'admin' }]));
    const statuses = [];
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const made = await invite(people[0]!, 'grace@example.com');
      statuses.push(made.status);
      if (made.status === 201) await people[0]!.http.delete(`/admin/v1/invitations/${made.body.id}`);
    }
    expect(statuses).toEqual([201, 201, 201, 429, 429]);
    expect((await invite(people[1]!, 'grace@example.com')).status).toBe(201);
  });
});

it('every numeric setting is documented as set by operators, unless administrators of a project may set it', async () => {
  const granted = NUMBERS.filter(([, { details = '' }]) => details.includes('Only operators set it'));
  expect(NUMBERS.map(([name]) => name).toSorted()).toEqual(
    [...OWN_NUMBERS, ...granted.map(([name]) => name)].toSorted(),
  );
  const own = NUMBERS.filter(([name]) => OWN_NUMBERS.includes(name));
  const settings = Object.fromEntries(own.map(([name, { schema }]) => [name, schema.minimum]));
  const { body } = await admin.http.patch(`/admin/v1/projects/${project.id}`, { settings });
  expect(body.settings).toMatchObject(settings);
  const reset = Object.fromEntries(OWN_NUMBERS.map((name) => [name, null]));
  await admin.http.patch(`/admin/v1/projects/${project.id}`, { settings: reset });
});

it.each(NUMBERS.map(([name]) => name).filter((name) => !OWN_NUMBERS.includes(name)))(
  'the limit %s of a project is set by operators, not by its administrators',
  async (name) => {
    const path = `/admin/v1/projects/${project.id}`;
    const operator = await newPerson(plinth, 'operator');
    const change = { settings: { [name]: 1_000_000 } };
    const refused = await admin.http.patch(path, change);
    expect([refused.status, codeOf(refused)]).toEqual([403, 'forbidden']);
    // A change together with a permitted setting, or back to the plan's limit, is refused too.
    expect((await admin.http.patch(path, { settings: { ...change.settings, locale: 'de' } })).status).toBe(
      403,
    );
    expect((await admin.http.patch(path, { settings: { [name]: null } })).status).toBe(403);
    const { body } = await operator.http.patch(path, change);
    expect(body.settings[name]).toBe(1_000_000);
  },
);

it('live streams of one staff member leave capacity for other staff', async () => {
  const path = `/admin/v1/projects/${project.id}/requests`;
  const streams: EventReader[] = [];
  for (;;) {
    const stream = await EventReader.open(viewer.http, path);
    if (stream.status !== 200) {
      expect(stream.status).toBe(429);
      await stream.close();
      break;
    }
    streams.push(stream);
  }
  expect(streams).toHaveLength(6);
  const colleague = await newPerson(plinth, null, [{ id: project.id, role: 'viewer' }]);
  const more = [await EventReader.open(colleague.http, path), await EventReader.open(plinth.admin, path)];
  expect(more.map(({ status }) => status)).toEqual([200, 200]);
  await streams.pop()!.close();
  await eventually(async () => {
    const again = await EventReader.open(viewer.http, path);
    streams.push(again);
    expect(again.status).toBe(200);
  });
  await Promise.all([...streams, ...more].map((stream) => stream.close()));
});

describe('staff of a project', () => {
  const list = async ({ http }: Pick<TestPerson, 'http'>): Promise<Record<string, unknown>[]> =>
    (await http.get(`/admin/v1/projects/${project.id}/people`)).body;

  it.each(['viewer', 'developer'] as const)('as %s see only names and roles of one another', async (role) => {
    const operator = await newPerson(plinth, 'operator', [{ id: project.id, role: 'developer' }]);
    const member = await newPerson(plinth, null, [{ id: project.id, role }]);
    const seen = (await list(member)).find(({ id }) => id === operator.id)!;
    expect(seen).toMatchObject({ name: 'A Person', email: operator.email, project_role: 'developer' });
    expect(seen).toMatchObject({ role: null, has_factor: null, last_sign_in_at: null });
    for (const reader of [admin, { http: plinth.admin }]) {
      const whole = (await list(reader)).find(({ id }) => id === operator.id)!;
      expect(whole).toMatchObject({ role: 'operator', has_factor: false });
      expect(whole.last_sign_in_at).toEqual(expect.any(String));
    }
  });
});

describe('a page of another origin', () => {
  const FOREIGN = { origin: 'https://evil.example' };

  it.each([
    ['/admin/v1/session', { email: 'ada@example.com', password: STAFF_PASSWORD }],
    ['/admin/v1/session/passkey', { credential: {} }],
    ['/admin/v1/session/passkey/options', {}],
    ['/admin/v1/session/oidc', { code: '123456' }],
    ['/admin/v1/session/ldap', { login: 'ada', password: STAFF_PASSWORD }],
    ['/admin/v1/setup', { token: 'x', email: 'ada@example.com', password: STAFF_PASSWORD, name: 'Ada' }],
    ['/admin/v1/invitations/accept', { token: 'x', name: 'Ada', password: STAFF_PASSWORD }],
  ])('begins no session by POST %s', async (path, body) => {
    for (const origin of [FOREIGN.origin, 'null', 'http://plinth.test.evil.example']) {
      const answer = await plinth.http.with({ origin }).post(path, body);
      expect([origin, answer.status, codeOf(answer)]).toEqual([origin, 403, 'foreign_origin']);
    }
  });

  it('signs nobody in without Content-Type, which our own pages send', async () => {
    const { email } = viewer;
    const body = JSON.stringify({ email, password: STAFF_PASSWORD });
    const send = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${plinth.baseUrl}/admin/v1/session`, { method: 'POST', headers, body: new Blob([body]) });
    const forged = await send(FOREIGN);
    expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null]);
    const own: Record<string, string>[] = [{}, { origin: 'http://plinth.test' }, { origin: plinth.baseUrl }];
    for (const headers of own) expect((await send(headers)).status).toBe(200);
    const proxied = { ...FOREIGN, 'sec-fetch-site': 'same-origin' };
    expect((await send(proxied)).status).toBe(200);
  });
});

it('returns from the issuer are limited by the address that asks, before they are recorded', async () => {
  const statuses = [];
  for (let count = 0; count <= CHALLENGES; count += 1)
    statuses.push((await plinth.http.get('/admin/v1/session/oidc/callback?state=x&code=x')).status);
  expect(statuses).toEqual([...Array.from({ length: CHALLENGES }, () => 303), 429]);
  const { http } = await newPerson(plinth, 'auditor');
  const { body } = await http.get('/admin/v1/audit-log?limit=100');
  const failed = body.filter(({ action }: { action: string }) => action === 'person.sign_in_failed');
  expect(failed).toHaveLength(CHALLENGES);
});

it('challenges for passkeys are limited by the address that asks, before any other work', async () => {
  plinth.clock.move(20 * MINUTE);
  const ask = (): Promise<HttpAnswer> => plinth.http.post('/admin/v1/session/passkey/options');
  const answers: HttpAnswer[] = [];
  for (let count = 0; count <= CHALLENGES; count += 1) answers.push(await ask());
  expect(answers.slice(0, CHALLENGES).every(({ status }) => status === 200)).toBe(true);
  expect(answers.at(-1)!.status).toBe(429);
  expect(cookieOf(answers.at(-1)!)).toBeNull();
  // Signing in by password still works.
  expect(personOf(plinth, await signIn(plinth, viewer.email)).id).toBe(viewer.id);
});
