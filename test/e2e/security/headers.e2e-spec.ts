/** Headers that every response must have, and CORS headers that the administration must not send. */
import { shareOf } from '../../support/extent';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath, Route, routesOf } from '../../support/routes';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const ORIGIN = 'https://app.example.com';

let plinth: TestPlinth;
let project: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

describe('X-Content-Type-Options: nosniff', () => {
  it('is sent by every route, on success and on refusal', async () => {
    const parameters = { project_slug: project.slug, project_id: project.id, id: project.id };
    const clients = [plinth.http, project.service, plinth.admin];
    const without: string[] = [];
    const routes = routesOf(plinth.app).filter(({ method }) => method !== 'DELETE');
    for (const [turn, { method, path }] of routes.entries()) {
      for (const client of shareOf(clients, turn, clients.length)) {
        const { status, headers } = await client.send(method, fillPath(path, parameters));
        if (headers.get('x-content-type-options') !== 'nosniff') without.push(`${method} ${path} ${status}`);
      }
    }
    expect(without).toEqual([]);
  });

  it('is sent with rows, writes, envelopes, sessions, errors and empty responses', async () => {
    await project.sql('create table notes (id int); create policy all_rows on notes using (true)');
    const auth = project.client(project.anonKey, null);
    await project.service.post(`${project.storage}/buckets`, { name: 'box' });
    const answers = [
      await project.service.get('/rest/v1/notes'),
      await project.service.get('/rest/v1/notes', { headers: { origin: ORIGIN } }),
      await project.service.post('/rest/v1/notes', { id: 1 }),
      await project.service.post('/rest/v1/notes', { id: 2 }, { headers: { prefer: 'return=minimal' } }),
      await project.service.send('HEAD', '/rest/v1/notes'),
      await project.service.send('OPTIONS', '/rest/v1/notes'),
      await project.service.get('/rest/v1/notes?id=eq.x'),
      await project.service.get('/rest/v1/nothing'),
      await auth.post(`${project.auth}/signup`, { email: 'ada@example.com', password: 'secret' }),
      await auth.post(`${project.auth}/login`, { email: 'ada@example.com', password: 'wrong' }),
      await upload(project.service, project.storage, 'box', 'content'),
      await project.service.get(`${project.storage}/buckets/box/files`),
      await project.service.get(`${project.storage}/buckets/none/files`),
      await plinth.admin.get('/admin/v1/projects'),
      await plinth.admin.post('/admin/v1/projects', '{broken'),
      await plinth.http.get('/nothing'),
      await plinth.http.get('/%ff'),
    ];
    expect(answers.map(({ headers }) => headers.get('x-content-type-options'))).toEqual(
      answers.map(() => 'nosniff'),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201, 400, 401, 404]));
  });
});

it('answers that depend on a credential are stored by no cache, on every surface', async () => {
  const user = await project.signUp();
  const gotrue = `/p/${project.slug}/auth/v1`;
  const storageJs = `/p/${project.slug}/storage/v1`;
  const alone = { headers: { authorization: '' } };
  const answers: Record<string, HttpAnswer> = {
    user: await user.http.get(`${project.auth}/user`),
    sessions: await user.http.get(`${project.auth}/sessions`),
    'wrong password': await project.anon.post(`${project.auth}/login`, { email: user.email, password: 'w' }),
    'sign-in': await project.anon.post(`${project.auth}/login`, {
      email: user.email,
      password: user.password,
    }),
    users: await project.service.get(`${project.auth}/admin/users`),
    'users of GoTrue': await project.service.get(`${gotrue}/admin/users`),
    'user of GoTrue': await user.http.get(`${gotrue}/user`),
    // The apikey alone names the project here.
    settings: await project.anon.get('/auth/v1/settings'),
    buckets: await project.service.get(`${project.storage}/buckets`),
    'buckets of storage-js': await project.service.get('/storage/v1/bucket', alone),
    'a list of files': await project.service.post(`${storageJs}/object/list/none`, { prefix: '' }),
    'an unknown file': await project.service.get(`${storageJs}/object/none/a.txt`),
  };
  const stored = Object.entries(answers).filter(
    ([, { headers }]) => headers.get('cache-control') !== 'no-store',
  );
  expect(stored.map(([what]) => what)).toEqual([]);
});

describe('cross-origin access', () => {
  const isClosed = ({ path }: Route): boolean => /^\/(admin\/|metrics$)/.test(path);
  const corsHeaders = (headers: Headers): string[] =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  it('is refused by every administration route and by /metrics', async () => {
    const routes = routesOf(plinth.app).filter(isClosed);
    expect(routes.length).toBeGreaterThan(10);
    const open: string[] = [];
    for (const [turn, { method, path }] of routes.entries()) {
      const address = fillPath(path, { id: project.id });
      const preflight = await plinth.http.send('OPTIONS', address, {
        headers: {
          origin: ORIGIN,
          'access-control-request-method': method,
          'access-control-request-headers': 'authorization',
        },
      });
      if (preflight.status < 400 || corsHeaders(preflight.headers).length > 0) open.push(`OPTIONS ${path}`);
      if (method === 'DELETE') continue;
      for (const client of shareOf([plinth.admin, plinth.http], turn, 2)) {
        const { headers } = await client.send(method, address, { headers: { origin: ORIGIN } });
        if (corsHeaders(headers).length > 0) open.push(`${method} ${path}`);
      }
    }
    expect(open).toEqual([]);
  });

  it.each(['/admin', '/admin/v1', '/admin/v1/nothing', '/metrics?a=b'])(
    'is refused at %s too, whether or not the path exists',
    async (address) => {
      const answer = await plinth.admin.unchecked().get(address, { headers: { origin: ORIGIN } });
      expect(corsHeaders(answer.headers)).toEqual([]);
    },
  );

  it.each(['/administration', '/rest/v1/admin', '/metrics-of-others'])(
    'is kept for %s, whose path only resembles it',
    async (address) => {
      const { headers } = await plinth.http.get(address, { headers: { origin: ORIGIN } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
    },
  );
});
