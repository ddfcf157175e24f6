/** Errors of table REST (SPEC.md 7.3): status by SQLSTATE, the six fields from the driver. */
import { createHmac } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { statement_timeout: 500 } });
  await project.sql(`
    create table parents (id int primary key);
    create table rows (
      id int primary key, name text not null, email text constraint rows_email_key unique, age int constraint adult check (age >= 18),
      parent int references parents, code varchar(3), span int4range, made text generated always as (name || '!') stored,
      constraint no_overlap exclude using gist (span with &&)
    );
    insert into rows (id, name, email, span) values (1, 'one', 'a@b.c', '[1,5)');
    create function fail(code text) returns void language plpgsql as $$
      begin raise exception using errcode = code, message = 'told', detail = 'more', hint = 'help'; end $$;
    create function slow() returns void language sql as $$ select pg_sleep(5) $$;
    create function reads_only() returns int stable language sql as $$ select 1 $$;
    create function shout(text) returns text immutable language sql as $$ select upper($1) $$;
    create function nap() returns void language sql as $$ select pg_sleep(1) $$;
    create function writes() returns void language sql as $$ insert into parents values (99) $$;
  `);
});
afterAll(() => plinth.stop());

const SIX = ['message', 'sqlstate', 'detail', 'hint', 'constraint', 'column'];

describe('errors for refused credentials', () => {
  const now = (): number => Math.floor(Date.now() / 1000);

  it('have the codes of PostgREST, one message, and PL401 in sqlstate', async () => {
    const subject = { sub: '6f0c9a3e-5b1d-4c7a-9a55-0d6f1a2b3c4d', role: 'authenticated' };
    const signed = (claims: object): string => project.token({ ...subject, ...claims });
    const good = signed({});
    const cases: [fault: string, apikey: string | null, bearer: string | null, code: string][] = [
      ['no apikey', null, good, 'PGRST302'],
      ['no bearer', project.anonKey, null, 'PGRST302'],
      ['no token', project.anonKey, 'x', 'PGRST301'],
      ['another apikey', 'x', good, 'PGRST301'],
      ['an altered signature', project.anonKey, `${good.slice(0, -4)}AAAA`, 'PGRST301'],
      ['an expired token', project.anonKey, signed({ exp: now() - 3_600 }), 'PGRST303'],
      ['a token that is not valid yet', project.anonKey, signed({ nbf: now() + 3_600 }), 'PGRST303'],
      ['a time that is not a number', project.anonKey, withText(), 'PGRST303'],
      ['an expired token with an altered signature', project.anonKey, altered(), 'PGRST301'],
      ['a role that no request may use', project.anonKey, signed({ role: 'postgres' }), 'PGRST301'],
    ];
    function withText(): string {
      const [head = '', body = ''] = good.split('.');
      const claims = { ...(JSON.parse(Buffer.from(body, 'base64url').toString()) as object), exp: 'never' };
      return resigned(head, claims);
    }
    function altered(): string {
      return `${signed({ exp: now() - 3_600 }).slice(0, -4)}AAAA`;
    }
    function resigned(head: string, claims: object): string {
      const text = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
      return `${text}.${createHmac('sha256', project.jwtSecret).update(text).digest('base64url')}`;
    }
    for (const [fault, apikey, bearer, code] of cases) {
      const { status, headers, body } = await project.client(apikey, bearer).get('/rest/v1/parents');
      expect([fault, status, body.code, body.detail.sqlstate]).toEqual([fault, 401, code, 'PL401']);
      expect([headers.get('proxy-status'), headers.get('www-authenticate')]).toEqual([
        `Plinth; error=${code}`,
        'Bearer',
      ]);
      if (code !== 'PGRST302') expect(body.message).toBe('The credentials are not valid or no longer valid');
    }
  });
});

describe('the error body', () => {
  it('has all six fields under detail, null where the database gave none, and PostgREST’s four members', async () => {
    const answer = await project.service.post('/rest/v1/rows', { id: 2, name: null });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.detail).sort()).toEqual([...SIX].sort());
    expect(answer.body.detail).toMatchObject({
      sqlstate: '23502',
      column: 'name',
      constraint: null,
      hint: null,
    });
    expect(answer.body).toMatchObject({
      code: '23502',
      message: answer.body.detail.message,
      details: answer.body.detail.detail,
      hint: null,
    });
  });

  it('has the same fields for errors that do not come from the database', async () => {
    for (const path of [
      '/rest/v1/nothing',
      '/rest/v1/rows?x',
      '/rest/v1/rows?x=y',
      '/rest/v1',
      '/rest/v1/a/b/c',
    ]) {
      const answer = await project.service.get(path);
      expect(answer.status).toBeGreaterThanOrEqual(200);
      if (answer.status === 200) continue;
      expect(Object.keys(answer.body.detail).sort()).toEqual([...SIX].sort());
      expect(answer.body.detail.sqlstate).toMatch(/^[0-9A-Z]{5}$/);
    }
  });

  it('answers 400 in the REST body for broken percent-encoding in the path', async () => {
    for (const path of ['/rest/v1/%ZZ', `/p/${project.slug}/rest/v1/%E0%A4%A`]) {
      const answer = await project.service.get(path);
      expect([answer.status, answer.body.detail.sqlstate.slice(0, 2)]).toEqual([400, 'PL']);
    }
  });
});

describe('violated constraints', () => {
  const WRITES: [what: string, row: object, status: number, fields: object][] = [
    ['not null', { id: 2 }, 400, { sqlstate: '23502', column: 'name' }],
    [
      'a primary key',
      { id: 1, name: 'x' },
      409,
      { sqlstate: '23505', constraint: 'rows_pkey', detail: 'Key (id)=(1) already exists.' },
    ],
    [
      'unique',
      { id: 2, name: 'x', email: 'a@b.c' },
      409,
      { sqlstate: '23505', constraint: 'rows_email_key' },
    ],
    [
      'a foreign key',
      { id: 2, name: 'x', parent: 5 },
      409,
      { sqlstate: '23503', constraint: 'rows_parent_fkey' },
    ],
    ['a check', { id: 2, name: 'x', age: 3 }, 400, { sqlstate: '23514', constraint: 'adult' }],
    [
      'an exclusion',
      { id: 2, name: 'x', span: '[2,3)' },
      409,
      { sqlstate: '23P01', constraint: 'no_overlap' },
    ],
    ['a length', { id: 2, name: 'x', code: 'long' }, 400, { sqlstate: '22001' }],
    ['a type', { id: 'x', name: 'x' }, 400, { sqlstate: '22P02' }],
    ['a range of numbers', { id: 99999999999, name: 'x' }, 400, { sqlstate: expect.stringMatching(/^22/) }],
    ['a generated column', { id: 2, name: 'x', made: 'y' }, 400, { sqlstate: '428C9' }],
  ];
  it.each(WRITES)('%s answers as documented', async (_what, row, status, fields) => {
    const answer = await project.service.post('/rest/v1/rows', row);
    expect(answer.status).toBe(status);
    expect(answer.body.detail).toMatchObject(fields);
  });
});

describe('SQLSTATE to status', () => {
  const CODES: [string, number][] = [
    ['P0001', 400],
    ['22012', 400],
    ['23000', 400],
    ['42501', 403],
    ['42P01', 404],
    ['42883', 404],
    ['23503', 409],
    ['40001', 500],
    ['40P01', 500],
    ['53400', 500],
    ['54001', 500],
    ['21000', 500],
    ['57014', 500],
    ['XX000', 500],
    ['53300', 503],
    ['PT418', 418],
    ['PT402', 402],
    ['PT40A', 500],
    ['MY001', 400],
    ['PL401', 400],
  ];
  it.each(CODES)('%s answers %i', async (code, status) => {
    const answer = await project.service.post('/rest/v1/rpc/fail', { code });
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([status, code]);
    if (status < 500 || /^(40|53400|54|21|PT)/.test(code))
      expect(answer.body.detail).toMatchObject({ message: 'told', detail: 'more', hint: 'help' });
    if (status === 503) expect(answer.headers.get('retry-after')).toBe('1');
  });

  it.each(['PT100', 'PT101', 'PT199'])(
    'treats %s as an ordinary error, because 1xx is not a final response',
    async (code) => {
      await project.sql(
        `create or replace function raises_interim() returns void language plpgsql as $$ begin raise exception 'no' using errcode = '${code}'; end $$`,
      );
      expect((await project.service.post('/rest/v1/rpc/raises_interim', {})).status).toBe(500);
    },
  );

  it.each([
    ['a status that is not final', '{"status": 101, "headers": {}}', 500],
    ['a status that is not an integer', '{"status": 400.5, "headers": {}}', 500],
    ['a header name that HTTP cannot carry', '{"status": 418, "headers": {"a b": "x"}}', 418],
    ['a header value with a line break', '{"status": 418, "headers": {"x": "a\\r\\nb: c"}}', 418],
    ['a header value that HTTP cannot carry', '{"status": 418, "headers": {"x": "\\u1234"}}', 418],
    ['its own length', '{"status": 418, "headers": {"content-length": "3"}}', 418],
    ['its own framing', '{"status": 418, "headers": {"Transfer-Encoding": "chunked"}}', 418],
    ['a trailer', '{"status": 418, "headers": {"Trailer": "x"}}', 418],
  ])('handles RAISE PGRST with %s', async (_what, detail, status) => {
    await project.sql(`create or replace function raises_oddly(detail text) returns void language plpgsql as $$
      begin raise sqlstate 'PGRST' using message = '{"code": "odd", "message": "odd"}', detail = detail; end $$`);
    const answer = await project.service.post('/rest/v1/rpc/raises_oddly', { detail });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code: status === 418 ? 'odd' : 'PGRST121' });
  });

  it.each([
    { 'content-length': '3' },
    { 'Content-Length': '300' },
    { 'transfer-encoding': 'chunked' },
    { trailer: 'x' },
  ])('ignores message framing in response.headers: %j', async (header) => {
    await project.sql(`create or replace function frames(headers text) returns text language sql as $$
        select set_config('response.headers', headers, true); select 'hello world' $$`);
    const answer = await project.service.post('/rest/v1/rpc/frames', { headers: JSON.stringify([header]) });
    expect([answer.status, answer.body]).toEqual([200, 'hello world']);
    expect(answer.headers.get('content-length')).toBe('13');
    expect(answer.headers.get('transfer-encoding')).toBeNull();
  });

  it('lets a function set the whole response by raising SQLSTATE PGRST', async () => {
    await project.sql(`create function whole() returns void language plpgsql as $$
      begin raise sqlstate 'PGRST' using
        message = '{"code": "123", "message": "Payment required", "details": "Quota exceeded", "hint": "Upgrade"}',
        detail = '{"status": 402, "headers": {"X-Powered-By": "Nerd Rage"}}'; end $$`);
    const answer = await project.service.post('/rest/v1/rpc/whole');
    expect([answer.status, answer.headers.get('x-powered-by')]).toEqual([402, 'Nerd Rage']);
    expect(answer.body).toMatchObject({
      code: '123',
      message: 'Payment required',
      details: 'Quota exceeded',
      hint: 'Upgrade',
    });
  });

  it('gives the code in Proxy-Status if a header can hold it', async () => {
    const statusOf = async (path: string) =>
      (await project.service.get(`/rest/v1/${path}`)).headers.get('proxy-status');
    expect(await statusOf('nothing')).toBe('Plinth; error=PGRST205');
    expect(await statusOf('parents?id=eq.x')).toBe('Plinth; error=22P02');
    await project.sql(`create function raises_words() returns void stable language plpgsql as $$
      begin raise sqlstate 'PGRST' using message = '{"code": "a; b", "message": "m"}',
        detail = '{"status": 418, "headers": {}}'; end $$`);
    expect(await statusOf('rpc/raises_words')).toBeNull();
    await project.sql(`
      create function raises_length() returns void language plpgsql immutable as $$
      begin raise sqlstate 'PGRST' using message = json_build_object('code', repeat('a', 2000), 'message', 'm')::text,
        detail = '{"status": 418, "headers": {}}'; end $$`);
    expect(await statusOf('rpc/raises_length')).toBeNull();
    const refused = await fetch(`${plinth.baseUrl}/rest/v1/parents`, {
      headers: { ...project.anon.headers, apikey: 'x' },
    });
    expect(refused.headers.get('proxy-status')).toBe('Plinth; error=PGRST301');
  });

  it('answers 500 for a statement that exceeds statement_timeout', async () => {
    const answer = await project.service.post('/rest/v1/rpc/slow');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([500, '57014']);
  });

  it('answers 405 for a write inside a read', async () => {
    const answer = await project.service.get('/rest/v1/rpc/writes');
    expect([answer.status, answer.body.detail.sqlstate]).toEqual([405, '25006']);
    expect(await project.sql('select from parents where id = 99')).toHaveLength(0);
  });
});

describe('a NUL, which text in PostgreSQL cannot hold', () => {
  const BODIES: [what: string, path: string, type: string, body: string | Buffer, code: string][] = [
    ['written as an escape', 'rows', 'application/json', '{"id": 7, "name": "a\\u0000b"}', '22P05'],
    ['in an argument', 'rpc/fail', 'application/json', '{"code": "\\u0000"}', '22P05'],
    ['in CSV', 'rows', 'text/csv', Buffer.from('id,name\n7,a\0b'), 'PGRST102'],
    ['in a form', 'rows', 'application/x-www-form-urlencoded', 'id=7&name=a%00b', 'PGRST102'],
    ['in a form of arguments', 'rpc/fail', 'application/x-www-form-urlencoded', 'code=%00', 'PGRST102'],
    ['in a text', 'rpc/shout', 'text/plain', Buffer.from('a\0b'), 'PGRST102'],
  ];
  it.each(BODIES)('%s answers 400 and names the NUL', async (_what, path, type, body, code) => {
    const answer = await project.service.post(`/rest/v1/${path}`, body, {
      headers: { 'content-type': type },
    });
    expect([answer.status, answer.body.code]).toEqual([400, code]);
    expect(answer.body.message).toMatch(/NUL character/);
  });
});

describe('role_statement_timeouts', () => {
  it('apply to each role separately', async () => {
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { statement_timeout: 20_000, role_statement_timeouts: { anon: 100 } },
    });
    const naps = (http: typeof project.anon) => http.post('/rest/v1/rpc/nap');
    expect((await naps(project.anon)).body.code).toBe('57014');
    expect((await naps(project.service)).status).toBe(204);
    await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
      settings: { statement_timeout: 500, role_statement_timeouts: null },
    });
  });

  it.each([{ anon: 0 }, { anon: '5s' }, { anon: 1.5 }, { anon: 3_600_001 }, [], 5, 'x'])(
    'must not be %j',
    async (timeouts) => {
      const answer = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, {
        settings: { role_statement_timeouts: timeouts },
      });
      expect(answer.status).toBe(400);
    },
  );
});
