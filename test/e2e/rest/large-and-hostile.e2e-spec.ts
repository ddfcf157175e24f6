/** Large results stream, a disconnect cancels the query, and hostile requests are refused quickly. */
import { get as httpGet } from 'node:http';
import { Client } from 'pg';
import { costOfParsing, longestHold } from '../../support/event-loop';
import { eventually } from '../../support/eventually';
import { casesOf, IN_SOAK, shareOf } from '../../support/extent';
import { mostMemoryAdded } from '../../support/memory-probe';
import { accessOf, asOwner } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const ROWS = IN_SOAK ? 300_000 : 150_000;
const MIB = 1024 * 1024;
let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { statement_timeout: 60_000 } });
  await project.sql(`
    create table big (id int primary key, filler text);
    insert into big select i, repeat('x', 60) from generate_series(1, ${ROWS}) i;
    create view many_more as select big.id, filler, copy from big, generate_series(1, 10) copy;
    create table vast (size int, text text);
    insert into vast select size, repeat('Text "as" it is\n', size * 65536) from unnest(array[20, 100]) size;
    create table parents (id int primary key, parent int references parents);
    create function one(a int) returns int immutable language sql as $$ select 1 $$;
    create view endless as select pg_sleep(30)::text as s, generate_series(1, 10) as n;
  `);
}, 60_000);
afterAll(() => plinth.stop());

interface Read {
  readonly bytes: number;
  readonly lines: number;
  readonly status: number;
  readonly contentRange: string | undefined;
  readonly tail: string;
}

/** Reads and discards a response. */
function drain(path: string, accept: string): Promise<Read> {
  return new Promise((resolve, reject) => {
    const request = httpGet(
      `${plinth.baseUrl}${path}`,
      { headers: { ...project.service.headers, accept } },
      (response) => {
        let [bytes, lines, tail] = [0, 0, ''];
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
          tail = chunk.toString('latin1').slice(-200);
        });
        response.on('end', () =>
          resolve({
            bytes,
            lines,
            tail,
            status: response.statusCode ?? 0,
            contentRange: response.headers['content-range'],
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
  });
}

describe('large results', () => {
  const BIG = '/rest/v1/big?order=id';

  it('stream as JSON, CSV and lines, complete to the last row', async () => {
    const json = await drain(BIG, 'application/json');
    expect(json.status).toBe(200);
    expect(json.bytes).toBeGreaterThan(ROWS * 80);
    expect(json.tail.endsWith('"}]')).toBe(true);
    expect(json.tail).toContain(`{"id":${ROWS},`);
    expect((await drain(BIG, 'application/x-ndjson')).lines).toBe(ROWS);
    expect((await drain(BIG, 'text/csv')).lines).toBe(ROWS);
  }, 60_000);

  // Memory for other purposes, including the test itself, is the same for both.
  const GROWING: readonly (readonly [string, string, string])[] = [
    ['one long value', '/rest/v1/vast?size=eq.20', '/rest/v1/vast?size=eq.100'],
    ['many rows', '/rest/v1/many_more?copy=lte.1', '/rest/v1/many_more?copy=lte.5'],
  ];
  it.each(casesOf(GROWING, 1))(
    'take memory independent of their length: %s',
    async (_, short, long) => {
      const read = async (path: string): Promise<{ bytes: number; added: number }> => {
        let bytes = 0;
        const added = await mostMemoryAdded(async () => ({ bytes } = await drain(path, 'application/json')));
        return { bytes, added };
      };
      await drain(short, 'application/json');
      // V8 frees buffers in a separate thread, late on a busy machine, so the least of three tries counts.
      let growth = Infinity;
      for (let tries = 0; tries < 3 && growth >= 0.25; tries += 1) {
        const [one, five] = [await read(short), await read(long)];
        expect(five.bytes).toBeGreaterThan(one.bytes + 80 * MIB);
        growth = Math.min(growth, (five.added - one.added) / (five.bytes - one.bytes));
      }
      expect(growth).toBeLessThan(0.25);
    },
    240_000,
  );

  it('have a Content-Range if they were counted first', async () => {
    const client = project.service.with({ prefer: 'count=exact' });
    const answer = await client.get(`${BIG}&limit=100000&offset=10`);
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `10-100009/${ROWS}`]);
  }, 60_000);

  it('wait for a client that reads slowly, and end when it disconnects', async () => {
    const controller = new AbortController();
    const response = await fetch(`${plinth.baseUrl}${BIG}`, {
      headers: project.service.headers,
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    // The client stops reading, so the server and the database wait.
    expect(await running('big')).toBe(1);
    controller.abort();
    await eventually(async () => expect(await running('big')).toBe(0));
  }, 60_000);

  it('cancel the query of a client that disconnects before the first row', async () => {
    const controller = new AbortController();
    const asked = fetch(`${plinth.baseUrl}/rest/v1/endless`, {
      headers: project.service.headers,
      signal: controller.signal,
    });
    asked.catch(() => undefined);
    await eventually(async () => expect(await running('endless')).toBe(1));
    controller.abort();
    await eventually(async () => expect(await running('endless')).toBe(0));
  });
});

/** Number of backends running a query that names a relation or function; only the server's admin can see them. */
async function running(name: string): Promise<number> {
  const admin = new Client({ connectionString: process.env.PLINTH_TEST_DATABASE_URL });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and query like $1`,
      [`%"${name}"%`],
    );
    return rows[0]?.n ?? 0;
  } finally {
    await admin.end();
  }
}

/** Asserts the least of three times, because garbage collection can affect each. @param bound milliseconds of CPU */
async function withoutHold<Answer>(ask: () => Promise<Answer>, bound: number): Promise<Answer> {
  let least = Infinity;
  for (let attempt = 0; ; attempt += 1) {
    const { answer, held } = await longestHold(ask);
    least = Math.min(least, held);
    if (least < bound) return answer;
    if (attempt === 2) expect(least).toBeLessThan(bound);
  }
}

describe('hostile requests', () => {
  /** Cost of parsing a body of 10 MiB in one piece; no request may block others for that long. */
  let parsing: number;
  beforeAll(() => (parsing = costOfParsing()));

  const long = (text: string, times: number) => text.repeat(times);
  const NASTY: [what: string, status: number, code: string | null, path: string][] = [
    ['deep embeds', 400, 'PL152', `parents?select=${long('parent(', 200)}id${long(')', 200)}`],
    ['deep logic', 400, 'PL152', `parents?and=(${long('or(', 300)}id.eq.1${long(')', 300)})`],
    [
      'many embeds',
      400,
      'PL153',
      `parents?select=${Array.from({ length: 500 }, (_, i) => `a${i}:parent(id)`).join(',')}`,
    ],
    ['many filters', 400, 'PL153', `parents?${long('id=eq.1&', 1_500)}`],
    ['many terms', 400, 'PL153', `parents?or=(${long('id.eq.1,', 1_800)}id.eq.1)`],
    ['many order terms', 400, 'PL153', `parents?order=${long('id,', 4_000)}id`],
    ['a long JSON path', 400, 'PL153', `parents?select=id${long('->a', 2_000)}`],
    ['open quotes', 400, 'PGRST100', `parents?id=in.(${long('"', 5_001)}`],
    ['backslashes', 400, '22P02', `parents?id=eq.${long('%5C', 5_000)}`],
    ['a long name', 400, 'PL151', `${long('a', 3_000)}`],
    ['dots', 404, 'PGRST205', `${long('a.', 400)}`],
    ['parentheses', 400, 'PGRST100', `parents?select=${long('(', 3_000)}`],
    ['colons', 400, 'PGRST100', `parents?select=${long('a:', 3_000)}id`],
    ['stars', 404, '42883', `parents?id=like.${long('*', 8_000)}`],
  ];

  it.each(NASTY)(
    '%s are answered by %i, code %s, without delaying other requests',
    async (_what, status, code, path) => {
      const refusals = await withoutHold(() => project.service.get(`/rest/v1/${path}`), parsing);
      expect([refusals.status, refusals.body.code]).toEqual([status, code]);
    },
  );

  it('an error message full of quotes is answered without delaying other requests', async () => {
    await project.sql(`create function quotes() returns void language plpgsql as $$
      begin raise exception using errcode = '42P17', message = repeat('"', 16000) || E'\\nx'; end $$`);
    const answer = await withoutHold(() => project.service.post('/rest/v1/rpc/quotes', {}), parsing / 3);
    expect([answer.status, answer.body.code]).toEqual([500, '42P17']);
  });

  /** Bodies of the largest allowed size, as JSON, CSV and forms. */
  const filled = (unit: string) => long(unit, Math.floor((9.9 * MIB) / unit.length));
  const fields = (unit: string) => long(unit, Math.floor(MIB / unit.length));
  const listOf = (unit: string) => `[${filled(`${unit},`).slice(0, -1)}]`;
  const numbered = (unit: (n: number) => string, length = 700_000) =>
    Array.from({ length }, (_, n) => unit(n)).join(',');
  const wide = () =>
    `${Array.from({ length: 10_000 }, (_, n) => `c${n}`).join(',')}\n${long(`${long(',', 9_999)}\n`, 1_000)}`;
  const [json, csv, form] = ['application/json', 'text/csv', 'application/x-www-form-urlencoded'];
  /** Bodies are built when they are sent, because together they would disturb the memory that other tests measure. */
  const BODIES: [what: string, status: number, path: string, type: string, body: () => string][] = [
    ['rows of one unknown column', 400, 'parents', json, () => listOf('{"a":1}')],
    ['rows with a different column each', 400, 'parents', json, () => `[${numbered((n) => `{"c${n}":1}`)}]`],
    ['an object of many columns', 400, 'parents', json, () => `{${numbered((n) => `"c${n}":1`)}}`],
    ['lists in lists', 400, 'parents', json, () => filled('[')],
    ['an unterminated string', 400, 'parents', json, () => `{"id":"${filled('\\"')}`],
    ['quotes', 400, 'parents', csv, () => `id\n${filled('"')}`],
    ['a header of nothing', 400, 'parents', csv, () => filled(',')],
    ['fields of unknown columns whose names are repeated in each row', 413, 'parents', csv, wide],
    ['a repeated field', 400, 'parents', form, () => fields('a=1&')],
    ['unknown arguments', 404, 'rpc/one', json, () => `{${numbered((n) => `"c${n}":1`)}}`],
    ['more arguments than a form may have', 400, 'rpc/one', form, () => long('a=1&', 10_000)],
    // Variants of the bodies above.
    ['a repeated column', 400, 'parents', json, () => `{${filled('"a":1,')}"a":1}`],
    ['empty rows', 400, 'parents', json, () => listOf('{}')],
    ['objects in objects', 400, 'parents', json, () => filled('{"a":')],
    ['lines that are too long', 400, 'parents', csv, () => `id\n${filled('1,2\n')}`],
    ['signs for blanks', 400, 'parents', form, () => fields('+')],
    ['a repeated argument', 200, 'rpc/one', form, () => long('a=1&', 9_999)],
    ['unknown fields', 404, 'rpc/one', form, () => numbered((n) => `c${n}=1&`, 9_000)],
    ['rows of two shapes', 400, 'parents', json, () => listOf('{"id":1},{}')],
    ['rows of a column that JSON names in many ways', 400, 'parents', json, () => listOf('{"\\u0061":1}')],
    ['numbers', 400, 'parents', json, () => listOf('1')],
    ['a long number', 400, 'parents', json, () => `{"id":${filled('9')}}`],
    ['blank lines', 201, 'parents', csv, () => `id${filled('\n')}`],
  ];

  // In `npm test` every second of the first eleven.
  it.each(shareOf(casesOf(BODIES, 11), 0, 2))(
    'a body full of %s is answered by %i',
    async (_what, status, path, type, make) => {
      const body = make();
      // The client uses the same process. Parsed in one piece, the costliest bodies take 12 times as long as plain rows.
      const answer = await withoutHold(
        () => project.service.post(`/rest/v1/${path}`, body, { headers: { 'content-type': type } }),
        3 * parsing,
      );
      expect(answer.status).toBe(status);
    },
    120_000,
  );

  it('bodies that nest deeply are refused', async () => {
    const answer = await project.service.post(
      '/rest/v1/parents',
      `{"id": ${long('[', 100_000)}${long(']', 100_000)}}`,
    );
    expect(answer.status).toBe(400);
  });
});

describe('overload', () => {
  it('answers 503 with Retry-After if no connection becomes free, serves other projects, and recovers', async () => {
    const busy = await TestPlinth.start({
      env: { DATABASE_MAX_CONNECTIONS: '4', DATABASE_PROJECT_CONNECTIONS: '1' },
    });
    try {
      const small = await busy.createProject({ settings: { statement_timeout: 60_000 } });
      await small.sql(
        'create table t (id int); create function hold() returns void language sql as $$ select pg_advisory_xact_lock(7) $$',
      );
      await small.service.get('/rest/v1/t');
      const other = await busy.createProject();
      await other.sql('create table t (id int)');
      await other.service.get('/rest/v1/t');
      await asOwner(await accessOf(busy, small.id), async (owner) => {
        await owner.query('select pg_advisory_lock(7)');
        const held = small.service.post('/rest/v1/rpc/hold', {});
        await eventually(async () => expect(await running('hold')).toBe(1));
        let isRefused = false;
        const refused = small.service.get('/rest/v1/t').finally(() => (isRefused = true));
        // Other projects do not wait for the only connection of that project.
        expect((await other.service.get('/rest/v1/t')).status).toBe(200);
        expect(isRefused).toBe(false);
        const answer = await refused;
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
        await owner.query('select pg_advisory_unlock(7)');
        await held;
      });
      expect((await small.service.get('/rest/v1/t')).status).toBe(200);
    } finally {
      await busy.stop();
    }
  }, 60_000);
});
