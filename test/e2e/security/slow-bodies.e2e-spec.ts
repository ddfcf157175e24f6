/** The memory that announced but withheld or slow bodies may reserve, and for how long. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { headOf, parsedAnswer, type RawClient, rawClient } from '../../support/slow-clients';
import type { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const FORM_TYPE = { 'Content-Type': 'multipart/form-data; boundary=x' };
const FILE = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';

async function projectWithTable(plinth: TestPlinth): Promise<TestProject> {
  const project = await plinth.createProject();
  await project.sql('create table t (a text); create policy p on t for all using (true) with check (true)');
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  return project;
}

interface Area {
  readonly name: string;
  readonly path: (project: TestProject) => string;
  readonly headers: Readonly<Record<string, string>>;
  readonly begin: string;
  readonly error: (status: number) => object;
}

const inStorage = (status: number): object => ({
  data: null,
  error: { message: expect.any(String), code: expect.any(String), status },
});

const AREAS: readonly Area[] = [
  {
    name: 'table REST',
    path: () => '/rest/v1/t',
    headers: JSON_TYPE,
    begin: '[{"a":"',
    error: (status) => ({ message: expect.any(String), detail: { sqlstate: `PL${status}`, hint: null } }),
  },
  {
    name: 'auth',
    path: ({ auth }) => `${auth}/signup`,
    headers: JSON_TYPE,
    begin: '{"email":"',
    error: (status) => ({ detail: expect.any(String), status_code: status }),
  },
  {
    name: 'storage',
    path: ({ storage }) => `${storage}/buckets`,
    headers: JSON_TYPE,
    begin: '{"name":"',
    error: inStorage,
  },
  {
    name: 'an upload',
    path: ({ storage }) => `${storage}/buckets/box/upload`,
    headers: FORM_TYPE,
    begin: FILE,
    error: inStorage,
  },
];

/** Announces a body of the given length without sending any of it. */
function announce(
  plinth: TestPlinth,
  project: TestProject,
  { path, headers }: Pick<Area, 'path' | 'headers'>,
  length: number,
): RawClient {
  const head = headOf(`POST ${path(project)}`, {
    ...project.service.headers,
    ...headers,
    'Content-Length': length,
  });
  return rawClient(plinth.baseUrl, head);
}

describe('withheld bodies', () => {
  let plinth: TestPlinth;
  let project: TestProject;
  const open: RawClient[] = [];

  beforeAll(async () => {
    plinth = await TestPlinth.start({ env: { MAX_BODY_SIZE: '5MiB' }, tuning: { bufferedBodies: 64 * MIB } });
    project = await projectWithTable(plinth);
  });
  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    await eventually(async () => expect(await reserved()).toBe(0));
  });
  afterAll(() => plinth.stop());

  const keep = (client: RawClient): RawClient => {
    open.push(client);
    return client;
  };

  async function reserved(): Promise<number> {
    const { text } = await plinth.admin.get('/metrics');
    return Number(/^plinth_body_reserved_bytes (\d+)/m.exec(text)?.[1]);
  }

  /** Two bodies, each counted four times, fill half of the memory, which is the share of one client. */
  async function takeShare(): Promise<void> {
    for (let n = 0; n < 2; n += 1) {
      const { socket } = keep(announce(plinth, project, AREAS[0] as Area, 4 * MIB));
      socket.write(`[{"a":"${'x'.repeat(2 * MIB)}`);
    }
    await eventually(async () => expect(await reserved()).toBe(32 * MIB));
  }

  it("cause 503 with Retry-After for more bodies of their project, unread, in each area's error body", async () => {
    await takeShare();
    const refused = AREAS.map((area) => keep(announce(plinth, project, area, 1_000)));
    await Promise.all(
      AREAS.map(async ({ error }, index) => {
        const { status, head, body } = parsedAnswer(await (refused[index] as RawClient).answered);
        expect({ status, body }).toMatchObject({ status: 503, body: error(503) });
        expect(head).toMatch(/\r\nRetry-After: \d+/i);
      }),
    );
  });

  it('do not affect other projects, the administration or requests without a body', async () => {
    const other = await projectWithTable(plinth);
    await takeShare();
    const answers = await Promise.all([
      other.anon.post('/rest/v1/t', { a: 'x'.repeat(MIB) }),
      other.anon.post(`${other.auth}/signup`, { email: 'one@example.com', password: 'correct horse' }),
      other.service.post(`${other.storage}/buckets`, { name: 'second' }),
      upload(other.service, other.storage, 'box', 'x'.repeat(MIB)),
      plinth.admin.post('/admin/v1/projects', { name: 'Third' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect((await project.anon.get('/rest/v1/t')).status).toBe(200);
  });

  it('let waiting requests proceed once they are closed', async () => {
    await takeShare();
    const waiting = project.service.post('/rest/v1/t', { a: 'x'.repeat(MIB) });
    await eventually(async () => {
      const { text } = await plinth.admin.get('/metrics');
      expect(text).toMatch(/^plinth_body_waiting 1$/m);
    });
    for (const { socket } of open) socket.destroy();
    expect((await waiting).status).toBe(201);
  });

  it('in chunked encoding are counted as they grow', async () => {
    const headers = { ...project.service.headers, ...JSON_TYPE, 'Transfer-Encoding': 'chunked' };
    const { socket } = keep(rawClient(plinth.baseUrl, headOf('POST /rest/v1/t', headers)));
    expect(await reserved()).toBe(0);
    socket.write(`${(2 * MIB).toString(16)}\r\n${'x'.repeat(2 * MIB)}\r\n`);
    await eventually(async () => expect(await reserved()).toBeGreaterThanOrEqual(8 * MIB));
    expect(await reserved()).toBeLessThan(9 * MIB);
  });

  it('sent byte by byte are read', async () => {
    const headers = {
      ...project.service.headers,
      'Content-Type': 'text/csv',
      'Transfer-Encoding': 'chunked',
    };
    const body = `a\n${'x'.repeat(200_000)}\n`;
    const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('');
    const sent = rawClient(
      plinth.baseUrl,
      headOf('POST /rest/v1/t?select=a', headers) + chunks + '0\r\n\r\n',
    );
    expect(await sent.answered).toContain('HTTP/1.1 201');
  });

  const row = '{"a":"x"}';
  const chunked = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n`;
  type Send = (head: (line: string, more: Record<string, string | number>) => string) => string;
  const ENDS: [what: string, send: Send, expected: RegExp][] = [
    [
      'in a row',
      (head) => head('POST /rest/v1/t', { 'Content-Length': row.length }) + row,
      /^HTTP\/1\.1 201/,
    ],
    ['unparsed', (head) => head('POST /rest/v1/t', { 'Content-Length': 5 }) + '{"a":', /^HTTP\/1\.1 400/],
    [
      'at an unknown table',
      (head) => head('POST /rest/v1/u', { 'Content-Length': 2 }) + '{}',
      /^HTTP\/1\.1 404/,
    ],
    [
      'too long, announced',
      (head) => head('POST /rest/v1/t', { 'Content-Length': 6 * MIB }),
      /^HTTP\/1\.1 413/,
    ],
    [
      'too long, in chunks',
      (head) =>
        head('POST /rest/v1/t', { 'Transfer-Encoding': 'chunked' }) + chunked('x'.repeat(5 * MIB + 1)),
      /^HTTP\/1\.1 413/,
    ],
    [
      'one after another on a connection',
      (head) => (head('POST /rest/v1/t', { 'Content-Length': row.length }) + row).repeat(20),
      /^(HTTP\/1\.1 201[^[]*\[\{"a":"x"\}\]){20}$/,
    ],
  ];

  it.each(ENDS)('release their memory when they end %s', async (_what, send, expected) => {
    const more = { ...project.service.headers, ...JSON_TYPE };
    const client = keep(
      rawClient(
        plinth.baseUrl,
        send((line, own) => headOf(line, { ...more, ...own })),
      ),
    );
    await eventually(async () => expect(client.answer()).toMatch(expected));
    await eventually(async () => expect(await reserved()).toBe(0));
  });

  it.each([
    ['in the middle', (head: string) => `${head}[{"a":"`],
    ['in the middle of a pipelined body', (head: string, whole: string) => whole + head],
  ])('release their memory when the client disconnects %s', async (_what, send) => {
    const more = { ...project.service.headers, ...JSON_TYPE };
    const head = headOf('POST /rest/v1/t', { ...more, 'Content-Length': MIB });
    const whole = headOf('POST /rest/v1/t', { ...more, 'Content-Length': row.length }) + row;
    const client = keep(rawClient(plinth.baseUrl, send(head, whole)));
    await eventually(async () => expect(await reserved()).toBe(4 * MIB));
    client.socket.destroy();
    await eventually(async () => expect(await reserved()).toBe(0));
  });

  it('that expand from few bytes of many rows and a long header are refused before they are built', async () => {
    const name = 'n'.repeat(60_000);
    const answer = await project.service.post(`/rest/v1/t`, `${name}\n${'1\n'.repeat(100_000)}`, {
      headers: { 'content-type': 'text/csv' },
    });
    expect(answer.status).toBe(413);
  });
});

describe('slow bodies', () => {
  let plinth: TestPlinth;
  let project: TestProject;

  // A client must send 4 KiB in each window.
  beforeAll(async () => {
    const tuning = { minBodyRate: 2_048, bodyRateWindowMs: 2_000, bodyTimeoutMs: 6_000 };
    plinth = await TestPlinth.start({ tuning });
    project = await projectWithTable(plinth);
  });
  afterAll(() => plinth.stop());

  it('are answered 408 in each area when the end is withheld', () =>
    Promise.all(
      AREAS.map(async (area) => {
        const client = announce(plinth, project, area, 100_000);
        client.socket.write(area.begin + 'x'.repeat(50_000));
        const { status, body } = parsedAnswer(await client.answered);
        client.socket.destroy();
        expect({ status, body }).toMatchObject({ status: 408, body: area.error(408) });
      }),
    ));

  it('are answered 408 in each area below the smallest rate', () =>
    Promise.all(
      AREAS.map(async (area) => {
        const client = announce(plinth, project, area, 100_000);
        client.socket.write(area.begin);
        const trickle = setInterval(() => client.socket.write('x'), 50);
        const { status } = parsedAnswer(await client.answered);
        clearInterval(trickle);
        client.socket.destroy();
        expect([area.name, status]).toEqual([area.name, 408]);
      }),
    ));

  /** Sends pieces at ten times the smallest rate until a response arrives or all are sent. */
  async function sendSlowly(client: RawClient, pieces: number): Promise<void> {
    for (let n = 0; n < pieces && client.answer() === ''; n += 1) {
      client.socket.write('x'.repeat(4_000));
      await sleep(200);
    }
  }

  it('is served over a slow line that sustains the minimum rate', async () => {
    const body = JSON.stringify({ a: 'x'.repeat(20 * 4_000) });
    const client = announce(plinth, project, AREAS[0] as Area, body.length);
    client.socket.write('{"a":"');
    await sendSlowly(client, 20);
    client.socket.write('"}');
    expect(await client.answered).toContain('HTTP/1.1 201');
    client.socket.destroy();
  }, 30_000);

  it('is answered 408 when it takes too long, unless it is an upload', async () => {
    const [rest, file] = [AREAS[0] as Area, AREAS[3] as Area];
    const pieces = 45;
    const tail = '\r\n--x--\r\n';
    const [held, streamed] = [
      announce(plinth, project, rest, 5 * MIB),
      announce(plinth, project, file, FILE.length + pieces * 4_000 + tail.length),
    ];
    held.socket.write(rest.begin);
    streamed.socket.write(file.begin);
    await Promise.all([sendSlowly(held, 5 * MIB), sendSlowly(streamed, pieces)]);
    streamed.socket.write(tail);
    expect(parsedAnswer(await held.answered).status).toBe(408);
    expect(await streamed.answered).toContain('HTTP/1.1 201');
    held.socket.destroy();
    streamed.socket.destroy();
  }, 60_000);
});

describe('client connections', () => {
  it('beyond MAX_CLIENT_CONNECTIONS are closed immediately; new ones are accepted when others have closed', async () => {
    const plinth = await TestPlinth.start({ env: { MAX_CLIENT_CONNECTIONS: '3' } });
    const request = headOf('GET /health/live', {});
    try {
      const clients = [1, 2, 3].map(() => rawClient(plinth.baseUrl, request));
      await Promise.all(clients.map(async ({ answered }) => expect(await answered).toContain('200 OK')));
      const further = rawClient(plinth.baseUrl, request);
      await further.closed;
      expect(further.answer()).toBe('');
      clients[0]?.socket.destroy();
      await eventually(async () => {
        const next = rawClient(plinth.baseUrl, request);
        const answer = await next.answered;
        next.socket.destroy();
        expect(answer).toContain('200 OK');
      });
      for (const { socket } of clients) socket.destroy();
    } finally {
      await plinth.stop();
    }
  });
});
