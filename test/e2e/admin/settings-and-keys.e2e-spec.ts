/** Settings, plans, keys and the audit log over the admin API (DECISIONS.md 7). */
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

const projects = '/admin/v1/projects';

describe('POST /projects', () => {
  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: ' \t\u00a0\u3000' }, 'name must not be blank'],
    [{ name: 7 }, 'name'],
    [{ name: 'a\0b' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'X', slug: 'Not A Slug' }, 'slug'],
    [{ name: 'X', slug: 'a' }, 'slug'],
    [{ name: 'X', slug: '-x' }, 'slug'],
    [{ name: 'X', plan: 'gold' }, 'plan'],
    [{ name: 'X', sluug: 'x' }, 'sluug is unknown; did you mean slug?'],
    [{ name: 'X', id: 'chosen' }, 'id is unknown'],
    [{ name: 'X', settings: { auto_rsl: true } }, 'settings.auto_rsl is unknown; did you mean auto_rls?'],
    [{ name: 'X', settings: { max_rows: 'many' } }, 'settings.max_rows'],
    [{ name: 'X', settings: { password_min_length: 5 } }, 'settings.password_min_length'],
    [{ name: 'X', settings: { exposed_schemas: ['auth'] } }, 'settings.exposed_schemas'],
    [{ name: 'X', settings: [] }, 'settings'],
    [{ name: 'X', database_url: 'mysql://x' }, 'database_url'],
    [{ name: 'Elsewhere', database_url: 'postgres://nobody:nothing@127.0.0.1:1/x' }, 'database_url'],
    [[], 'JSON object'],
    ['"text"', 'JSON object'],
    ['null', 'JSON object'],
    ['{broken', 'JSON'],
  ])('answers 400 for %j and names the fault', async (body, fault) => {
    const answer = await plinth.admin.post(projects, body);
    expect([answer.status, answer.body.error]).toEqual([
      400,
      { status: 400, code: 'invalid_parameters', message: expect.stringContaining(fault) },
    ]);
  });

  it('answers 409 when the slug is taken', async () => {
    expect((await plinth.admin.post(projects, { name: 'One', slug: 'taken' })).status).toBe(201);
    const answer = await plinth.admin.post(projects, { name: 'Two', slug: 'taken' });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'project_already_exists']);
    expect(answer.body.error.message).toContain('"taken"');
  });

  it('answers 409 if the slug of the name is taken, so that a repeated request creates no second project', async () => {
    expect((await plinth.admin.post(projects, { name: 'Only once' })).body.slug).toBe('only-once');
    const answer = await plinth.admin.post(projects, { name: 'only, once!' });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'project_already_exists']);
    expect((await plinth.admin.get(`${projects}?search=once`)).body).toHaveLength(1);
  });

  it('generates a slug for null', async () => {
    const create = (name: string) => plinth.admin.post(projects, { name, slug: null });
    const answers = [await create('Many'), await create('Many'), await create('日本語')];
    expect(answers.map(({ status, body }) => [status, body.slug])).toEqual([
      [201, 'many'],
      [201, expect.stringMatching(/^many-[a-z0-9]{5}$/)],
      [201, expect.stringMatching(/^project-[a-z0-9]{8}$/)],
    ]);
  });

  it.each([
    ['Ünïcode Straße', 'unicode-stra-e'],
    ['123 go', 'go'],
    ['x'.repeat(80), 'x'.repeat(40)],
  ])('makes a slug from %s', async (name, slug) => {
    const answer = await plinth.admin.post(projects, { name });
    expect([answer.status, answer.body.slug]).toEqual([201, slug]);
  });

  it.each(['日本語', '42', 'X'])(
    'answers 400 for the name %s, from which no slug can be made',
    async (name) => {
      const answer = await plinth.admin.post(projects, { name });
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('No slug')]);
    },
  );
});

describe('GET /projects', () => {
  it('returns pages in order of creation, with the total', async () => {
    for (const name of ['Page a', 'Page b', 'Page c']) await plinth.admin.post(projects, { name });
    const first = await plinth.admin.get(`${projects}?search=PAGE&limit=2`);
    const second = await plinth.admin.get(`${projects}?search=page&limit=2&offset=2`);
    expect([...first.body, ...second.body].map(({ name }) => name)).toEqual(['Page a', 'Page b', 'Page c']);
    expect(first.headers.get('x-total-count')).toBe('3');
    expect((await plinth.admin.get(`${projects}?slug=page-b`)).body).toHaveLength(1);
    expect((await plinth.admin.get(`${projects}?search=%25`)).body).toEqual([]);
  });

  it.each(['limit=0', 'limit=x', 'offset=-1', 'limit=1001', 'page=2', 'slug=%00'])(
    'answers 400 for %s',
    async (query) => {
      expect((await plinth.admin.get(`${projects}?${query}`)).status).toBe(400);
    },
  );
});

describe('PATCH /projects/<id>', () => {
  it('takes effect with the next request', async () => {
    const project = await plinth.createProject();
    await project.sql('create table numbers as select n from generate_series(1, 10) n');
    expect((await project.service.get('/rest/v1/numbers')).body).toHaveLength(10);
    const changed = await plinth.admin.patch(`${projects}/${project.id}`, { settings: { max_rows: 3 } });
    expect([changed.status, changed.body.settings.max_rows]).toEqual([200, 3]);
    expect((await project.service.get('/rest/v1/numbers')).body).toHaveLength(3);
    await plinth.admin.patch(`${projects}/${project.id}`, { settings: { max_rows: null } });
    expect((await project.service.get('/rest/v1/numbers')).body).toHaveLength(10);
  });

  it('keeps both of two concurrent changes', async () => {
    const { id } = await plinth.createProject();
    const change = (settings: object): Promise<unknown> =>
      plinth.admin.patch(`${projects}/${id}`, { settings });
    await Promise.all([change({ max_rows: 5 }), change({ locale: 'de' }), change({ plan_enabled: true })]);
    expect((await plinth.admin.get(`${projects}/${id}`)).body.settings).toMatchObject({
      max_rows: 5,
      locale: 'de',
      plan_enabled: true,
    });
  });

  it('answers 400 for a field that cannot be changed, and changes nothing', async () => {
    const { id } = await plinth.createProject();
    expect((await plinth.admin.patch(`${projects}/${id}`, { name: ' ' })).status).toBe(400);
    const answer = await plinth.admin.patch(`${projects}/${id}`, { name: 'New', slug: 'other' });
    expect([answer.status, answer.body.error.message]).toEqual([400, 'slug is unknown']);
    expect((await plinth.admin.get(`${projects}/${id}`)).body.name).toBe('Test');
  });

  it('answers 409 and changes nothing if the project was changed since it was read', async () => {
    const { id } = await plinth.createProject();
    const read = (await plinth.admin.get(`${projects}/${id}`)).body;
    const save = (mail_templates: object): Promise<HttpAnswer> =>
      plinth.admin.patch(`${projects}/${id}`, {
        settings: { mail_templates },
        unchanged_since: read.updated_at,
      });
    const [reset, verify] = [{ reset: { subject: 'First' } }, { verify: { subject: 'Second' } }];
    const answers = await Promise.all([save(reset), save(verify)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.error.code).toBe('conflict');
    const now = (await plinth.admin.get(`${projects}/${id}`)).body;
    expect(now).toEqual(answers.find(({ status }) => status === 200)?.body);
    const wrong = await plinth.admin.patch(`${projects}/${id}`, { unchanged_since: 'yesterday' });
    expect(wrong.status).toBe(400);
  });

  it('leaves a field unchanged for null', async () => {
    const { id } = await plinth.createProject();
    const before = await plinth.admin.get(`${projects}/${id}`);
    const answer = await plinth.admin.patch(`${projects}/${id}`, { name: null, plan: null, settings: null });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...before.body, updated_at: answer.body.updated_at });
    const created = await plinth.admin.post(projects, {
      name: 'Nulls',
      slug: null,
      plan: null,
      settings: null,
    });
    expect([created.status, created.body.plan]).toEqual([201, 'free']);
  });

  it('answers 404 for a project that does not exist', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/keys'],
      ['POST', '/keys/rotate'],
      ['GET', '/database'],
      ['GET', '/tables'],
    ] as const) {
      const body = ['PATCH', 'POST'].includes(method) ? { body: {} } : {};
      const answer = await plinth.admin.send(method, `${projects}/nobody${path}`, body);
      expect([method, path, answer.status, answer.body.error.code]).toEqual([
        method,
        path,
        404,
        'project_not_found',
      ]);
    }
  });
});

describe('GET /audit-log', () => {
  it('lists every change with actor and address, and no secret', async () => {
    const created = await plinth.admin.post(projects, { name: 'Audited', settings: { locale: 'de' } });
    const { id } = created.body;
    await plinth.admin.patch(`${projects}/${id}`, { plan: 'pro', settings: { max_rows: 5 } });
    const rotated = await plinth.admin.post(`${projects}/${id}/keys/rotate`, { grace_seconds: 5 });
    const access = await plinth.admin.get(`${projects}/${id}/database`);
    await plinth.admin.post(`${projects}/${id}/sql`, {
      query: "create table s (t text default 'in the clear'); select 1",
    });
    await plinth.admin.post(`${projects}/${id}/sql`, { query: 'select * from nowhere' });
    await plinth.admin.delete(`${projects}/${id}`);
    const { body, text } = await plinth.admin.get(`/admin/v1/audit-log?project_id=${id}`);
    expect(body.map(({ action }) => action)).toEqual([
      'project.delete',
      'project.sql',
      'project.sql',
      'project.database.read',
      'project.keys.rotate',
      'project.update',
      'project.create',
    ]);
    expect(body[0]).toMatchObject({
      actor: 'platform-admin-key',
      address: expect.stringContaining('127.0.0.1'),
      project_id: id,
    });
    expect(body[1]?.details).toMatchObject({ failed: '42P01' });
    expect(body[2]?.details).toMatchObject({
      commands: 'CREATE, SELECT',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(body[5]?.details).toEqual({ changed: ['plan', 'settings.max_rows'] });
    for (const secret of [
      'in the clear',
      access.body.owner_password,
      rotated.body.jwt_secret,
      created.body.service_role_key,
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  it('pages backwards by cursor', async () => {
    const { id } = await plinth.createProject();
    for (let n = 0; n < 4; n += 1) await plinth.admin.patch(`${projects}/${id}`, { name: `Name ${n}` });
    const path = `/admin/v1/audit-log?project_id=${id}&action=project.update&limit=3`;
    const first = await plinth.admin.get(path);
    const second = await plinth.admin.get(`${path}&before=${first.headers.get('x-next-cursor')}`);
    expect([first.body.length, second.body.length]).toEqual([3, 1]);
    expect(second.headers.get('x-next-cursor')).toBeNull();
    const ids = [...first.body, ...second.body].map((entry) => Number(entry.id));
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });

  it.each(['before=x', 'limit=0', 'projectid=x', 'before=9999999999999999999'])(
    'answers 400 for %s',
    async (query) => {
      expect((await plinth.admin.get(`/admin/v1/audit-log?${query}`)).status).toBe(400);
    },
  );
});

it.each(['projects?limit', 'projects?offset', 'audit-log?limit', 'failed-mails?limit'])(
  'accepts only digits for %s',
  async (parameter) => {
    const status = async (value: string): Promise<number> =>
      (await plinth.admin.get(`/admin/v1/${parameter}=${value}`)).status;
    expect(await status('7')).toBe(200);
    for (const value of ['', '%207', '7.0', '1e2', '0x10'])
      expect([value, await status(value)]).toEqual([value, 400]);
  },
);
