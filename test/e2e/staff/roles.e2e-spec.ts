/** The complete table of roles: every route of the administration with every role and every scope of a token. */
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { shareOf } from '../../support/extent';
import { fillPath } from '../../support/routes';
import { newPerson, TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';
import { isOfProject, Role, ROLES, ROUTE_TABLE, SCOPES } from '../../../src/staff/roles/route-table';
import { RouteTableCheck } from '../../../src/staff/roles/route-table-check.service';

/* oxlint-disable typescript/no-explicit-any -- answers of the product under test */

const INSTALL: readonly Role[] = ['owner', 'operator', 'auditor'];

let plinth: TestPlinth;
let project: TestProject;
let other: TestProject;
/** Staff by role; `nobody` has no role. */
let people: Map<Role | 'nobody', TestPerson>;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [project, other] = [await plinth.createProject(), await plinth.createProject()];
  people = new Map([['nobody', await newPerson(plinth, null)]]);
  for (const role of ROLES) {
    const isInstall = INSTALL.includes(role);
    const projects = isInstall ? [] : [{ id: project.id, role: role as 'admin' }];
    people.set(role, await newPerson(plinth, isInstall ? (role as 'owner') : null, projects));
  }
}, 60_000);
afterAll(() => plinth.stop());

const person = (role: Role | 'nobody'): TestPerson => people.get(role)!;

/** A call without effect: bodies are malformed, and no id but the project's exists. */
async function attempt(http: HttpClient, route: string, projectId: string): Promise<HttpAnswer> {
  const [method = '', path = ''] = route.split(' ');
  const address = isOfProject(route) ? path.replace(':id', projectId) : path;
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{"broken' } : {};
  return http.unchecked().send(method, fillPath(address, {}), body);
}

const codeOf = ({ body }: HttpAnswer): string => body?.error?.code ?? '';

/** Whether a role or a scope refused the request, rather than its content. */
const isForbidden = (answer: HttpAnswer): boolean => answer.status === 403 && codeOf(answer) === 'forbidden';

const ROUTES = Object.keys(ROUTE_TABLE);

/** Routes that need no body to end the session or project of the other tests, so only roles without access try them. */
const FINAL: ReadonlySet<string> = new Set(['DELETE /admin/v1/session', 'DELETE /admin/v1/projects/:id']);

it('has a row for every route, and a route for every row', () => {
  const routes = plinth.app.get(RouteTableCheck).staffRoutes();
  expect([...ROUTES].sort()).toEqual([...new Set(routes)].sort());
});

it.each([...ROLES, 'nobody' as const])(
  '%s may use exactly the routes in the table',
  async (role) => {
    const faults: string[] = [];
    for (const route of shareOf(ROUTES, [...ROLES, 'nobody'].indexOf(role), 2)) {
      const { roles } = ROUTE_TABLE[route]!;
      const mayUse = roles === null || (role !== 'nobody' && roles.includes(role));
      if (mayUse && FINAL.has(route)) continue;
      const answer = await attempt(person(role).http, route, project.id);
      const isHidden = role === 'nobody' && isOfProject(route);
      const expected = isHidden ? 'project_not_found' : mayUse ? 'not forbidden' : 'forbidden';
      const seen = isHidden ? codeOf(answer) : isForbidden(answer) ? 'forbidden' : 'not forbidden';
      if (seen !== expected || answer.status === 401)
        faults.push(`${route}: ${answer.status} ${answer.text}`);
    }
    expect(faults).toEqual([]);
  },
  60_000,
);

it.each(ROLES.filter((role) => !INSTALL.includes(role)))(
  '%s of one project does not find another project on any route',
  async (role) => {
    for (const route of shareOf(ROUTES.filter(isOfProject), ROLES.indexOf(role), 2)) {
      const [there, nowhere] = [
        await attempt(person(role).http, route, other.id),
        await attempt(person(role).http, route, 'a0000000000000000000'),
      ];
      expect([route, there.status, there.body]).toEqual([route, 404, nowhere.body]);
      expect(codeOf(there)).toBe('project_not_found');
    }
    const { body, headers } = await person(role).http.get('/admin/v1/projects');
    expect((body as any[]).map(({ id }) => id)).toEqual([project.id]);
    expect(headers.get('x-total-count')).toBe('1');
    expect((await person(role).http.get(`/admin/v1/projects?slug=${other.slug}`)).body).toEqual([]);
  },
  60_000,
);

it('the routes that end a session or a project are open to the roles that may use them', async () => {
  const made = await person('operator').http.post('/admin/v1/projects', { name: 'Short-lived' });
  expect(made.status).toBe(201);
  const gone = await person('owner').http.delete(`/admin/v1/projects/${made.body.id}`);
  expect([200, 202]).toContain(gone.status);
  const session = await newPerson(plinth, null);
  expect((await session.http.delete('/admin/v1/session')).status).toBe(204);
});

describe('a token', () => {
  const tokenOf = async (role: Role, scopes: readonly string[], more: object = {}): Promise<HttpClient> => {
    const body = { name: 'test', scopes, expires_in: 3_600, ...more };
    const answer = await person(role).http.post('/admin/v1/tokens', body);
    return plinth.http.with({ authorization: `Bearer ${answer.body.token}` });
  };

  it.each(SCOPES)('with the scope %s may use exactly the routes of that scope', async (scope) => {
    const http = await tokenOf('owner', [scope]);
    const faults: string[] = [];
    for (const route of shareOf(ROUTES, SCOPES.indexOf(scope), 3)) {
      const expected = ROUTE_TABLE[route]!.scope !== scope;
      if (!expected && FINAL.has(route)) continue;
      const answer = await attempt(http, route, project.id);
      // A token without the scope admin cannot end another token, and attempt() uses the id of another token.
      const isOther = route === 'DELETE /admin/v1/tokens/:id' && scope !== 'admin';
      if (isForbidden(answer) !== (expected || isOther))
        faults.push(`${route}: ${answer.status} ${answer.text}`);
    }
    expect(faults).toEqual([]);
  });

  it.each(ROLES)('of %s with all scopes allows no more than the role', async (role) => {
    const http = await tokenOf(role, SCOPES);
    const faults: string[] = [];
    for (const route of shareOf(ROUTES, ROLES.indexOf(role), 2)) {
      const { roles, scope } = ROUTE_TABLE[route]!;
      const mayUse = scope !== null && (roles === null || roles.includes(role));
      if (mayUse && FINAL.has(route)) continue;
      const answer = await attempt(http, route, project.id);
      if (isForbidden(answer) === mayUse) faults.push(`${route}: ${answer.status} ${answer.text}`);
    }
    expect(faults).toEqual([]);
  });

  it('of one project can access only that project, and nothing of the installation', async () => {
    const http = await tokenOf('owner', SCOPES, { project_id: project.id });
    const tried = ROUTES.filter((one) => !FINAL.has(one));
    for (const route of shareOf(tried, 0, 2)) {
      const { roles, scope } = ROUTE_TABLE[route]!;
      if (scope === null) continue;
      if (isOfProject(route)) {
        expect(codeOf(await attempt(http, route, other.id))).toBe('project_not_found');
        expect(isForbidden(await attempt(http, route, project.id))).toBe(false);
      } else expect([route, isForbidden(await attempt(http, route, ''))]).toEqual([route, roles !== null]);
    }
    expect(((await http.get('/admin/v1/projects')).body as any[]).map(({ id }) => id)).toEqual([project.id]);
  });

  it('immediately loses the rights that its staff member loses', async () => {
    const demoted = await newPerson(plinth, 'operator');
    const body = { name: 'test', scopes: SCOPES, expires_in: 3_600 };
    const { token } = (await demoted.http.post('/admin/v1/tokens', body)).body;
    const http = plinth.http.with({ authorization: `Bearer ${token}` });
    expect((await http.get('/admin/v1/people')).status).toBe(200);
    await person('owner').http.patch(`/admin/v1/people/${demoted.id}`, { role: null });
    expect((await http.get('/admin/v1/people')).status).toBe(403);
    expect((await http.get('/admin/v1/projects')).body).toEqual([]);
  });

  it('cannot create a token with more rights or a longer life; it expires and is deleted', async () => {
    const http = await tokenOf('owner', ['read', 'admin'], { project_id: project.id });
    const ask = (more: object): Promise<HttpAnswer> =>
      http.post('/admin/v1/tokens', {
        name: 'more',
        scopes: ['read'],
        project_id: project.id,
        expires_in: 60,
        ...more,
      });
    for (const more of [{ scopes: ['read', 'sql'] }, { project_id: null }, { expires_in: 7_200 }])
      expect([more, (await ask(more)).status]).toEqual([more, 403]);
    expect((await ask({ project_id: other.id })).status).toBe(404);
    const { token, id } = (await ask({})).body;
    expect(token).toMatch(/^plt_[\w-]{43}$/);
    const small = plinth.http.with({ authorization: `Bearer ${token}` });
    expect((await small.get('/admin/v1/projects')).status).toBe(200);
    const { body } = await small.get('/admin/v1/tokens');
    const all = body as { id: string }[];
    expect(JSON.stringify(all)).not.toContain(token);
    const another = all.find((one) => one.id !== id)!;
    expect((await small.delete(`/admin/v1/tokens/${another.id}`)).status).toBe(403);
    expect((await small.delete(`/admin/v1/tokens/${id}`)).status).toBe(204);
    expect((await small.get('/admin/v1/projects')).status).toBe(401);
    const brief = await tokenOf('auditor', ['read'], { expires_in: 60 });
    expect((await brief.get('/admin/v1/projects')).status).toBe(200);
    plinth.clock.move(61);
    expect((await brief.get('/admin/v1/projects')).status).toBe(401);
  });
});

describe('nobody grants more rights than they have', () => {
  const invite = (role: Role, body: object): Promise<HttpAnswer> =>
    person(role).http.post('/admin/v1/invitations', { email: `${Math.random()}@example.com`, ...body });

  it('an operator cannot create, change or remove an owner', async () => {
    const { http, id } = person('operator');
    const owner = `/admin/v1/people/${person('owner').id}`;
    for (const answer of [
      await http.patch(`/admin/v1/people/${id}`, { role: 'owner' }),
      await http.patch(owner, { role: null }),
      await http.patch(owner, { name: 'Renamed' }),
      await http.patch(owner, { disabled: true }),
      await http.delete(owner),
      await invite('operator', { role: 'owner' }),
    ])
      expect([answer.status, codeOf(answer)]).toEqual([403, 'forbidden']);
  });

  it('an administrator of a project invites only to that project', async () => {
    const [own, elsewhere] = [
      { id: project.id, role: 'admin' },
      { id: other.id, role: 'viewer' },
    ];
    expect((await invite('admin', { projects: [own] })).status).toBe(201);
    for (const role of ['owner', 'operator', 'auditor'])
      expect((await invite('admin', { role, projects: [own] })).status).toBe(403);
    expect((await invite('admin', {})).status).toBe(403);
    expect((await invite('admin', { projects: [own, elsewhere] })).status).toBe(404);
    expect((await invite('admin', { projects: [{ id: project.id, role: 'owner' }] })).status).toBe(400);
    const people = `/admin/v1/projects/${project.id}/people`;
    const raised = await person('admin').http.put(`${people}/${person('admin').id}`, { role: 'owner' });
    expect(raised.status).toBe(400);
    // A developer cannot become an administrator either.
    const self = await person('developer').http.put(`${people}/${person('developer').id}`, { role: 'admin' });
    expect(self.status).toBe(403);
    // Only the installation grants a plan and quotas.
    const path = `/admin/v1/projects/${project.id}`;
    expect((await person('admin').http.patch(path, { plan: 'enterprise' })).status).toBe(403);
    const quota = { settings: { requests_per_day: 1_000_000 } };
    expect((await person('admin').http.patch(path, quota)).status).toBe(403);
    expect((await person('admin').http.patch(path, { name: 'Mine' })).status).toBe(200);
  });

  it('an administrator of a project sees only the invitations to that project', async () => {
    const made = (await invite('owner', { role: 'auditor' })).body;
    const list = (await person('admin').http.get('/admin/v1/invitations')).body as any[];
    expect(list.length).toBeGreaterThan(0);
    expect(list.every(({ role }) => role === null)).toBe(true);
    expect((await person('admin').http.delete(`/admin/v1/invitations/${made.id}`)).status).toBe(404);
    expect((await person('operator').http.delete(`/admin/v1/invitations/${made.id}`)).status).toBe(204);
  });
});

it('roles of a project and of the installation together grant no more than each alone', async () => {
  const both = await newPerson(plinth, 'auditor', [{ id: project.id, role: 'admin' }]);
  const body = { email: 'both@example.com', role: 'auditor' };
  const { id } = (await person('owner').http.post('/admin/v1/invitations', body)).body;
  expect((await both.http.get('/admin/v1/invitations')).text).toContain(id);
  expect((await both.http.delete(`/admin/v1/invitations/${id}`)).status).toBe(404);
  expect((await both.http.post('/admin/v1/invitations', { ...body, email: 'x@example.com' })).status).toBe(
    403,
  );
  const path = `/admin/v1/projects/${project.id}`;
  expect((await both.http.patch(path, { plan: 'enterprise' })).status).toBe(403);
  expect((await both.http.patch(path, { name: 'Ours' })).status).toBe(200);
  expect((await both.http.patch(`/admin/v1/projects/${other.id}`, { name: 'Ours' })).status).toBe(403);
  expect((await both.http.patch(`/admin/v1/people/${both.id}`, { name: 'Me' })).status).toBe(403);
});

describe('an invitation', () => {
  const accept = (link: string, more: object = {}): Promise<HttpAnswer> =>
    plinth.http.post('/admin/v1/invitations/accept', {
      token: link.split('#')[1],
      name: 'Grace',
      password: 'correct horse battery',
      ...more,
    });
  const invite = async (by: TestPerson, email: string, body: object): Promise<any> =>
    (await by.http.post('/admin/v1/invitations', { email, ...body })).body;

  it('works once, grants the stated roles, and ends when the role of its creator changes', async () => {
    const maker = await newPerson(plinth, 'operator');
    const email = 'Grace@Example.com';
    const { link } = await invite(maker, email, { projects: [{ id: project.id, role: 'viewer' }] });
    expect((await maker.http.post('/admin/v1/invitations', { email: 'grace@example.com' })).status).toBe(409);
    const both = await Promise.all([accept(link), accept(link)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
    const session = both.find(({ status }) => status === 201)!.body;
    expect(session).toMatchObject({
      person: { email, role: null },
      projects: [{ id: project.id, slug: project.slug, role: 'viewer' }],
    });
    expect((await maker.http.post('/admin/v1/invitations', { email })).status).toBe(409);

    const { link: pending } = await invite(maker, 'pending@example.com', { role: 'operator' });
    await person('owner').http.patch(`/admin/v1/people/${maker.id}`, { role: 'auditor' });
    expect(codeOf(await accept(pending))).toBe('invalid_invitation');
    const { link: late } = await invite(person('owner'), 'late@example.com', { role: 'auditor' });
    plinth.clock.move(8 * 86_400);
    expect(codeOf(await accept(late))).toBe('invalid_invitation');
    expect(codeOf(await accept('x#guessed'))).toBe('invalid_invitation');
  });
});
