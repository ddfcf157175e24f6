/** The plan's limit on storage requests, exact to one request in a window (SPEC.md 8, DECISIONS.md 6). */
import { eventually } from '../../support/eventually';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { hasRedis, TestRedis } from '../../support/redis-server';
import { upload } from '../../support/uploads';

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  // A machine may need more than a minute for a thousand requests.
  plinth.clock.hold();
});
afterAll(() => plinth.stop());

const rate = ({ headers }: HttpAnswer): (number | null)[] =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => {
    const value = headers.get(name);
    return value === null ? null : Number(value);
  });
const remaining = (answer: HttpAnswer): number | null | undefined => rate(answer)[1];

async function many(count: number, request: () => Promise<HttpAnswer>): Promise<HttpAnswer[]> {
  const answers: HttpAnswer[] = [];
  while (answers.length < count) {
    answers.push(
      ...(await Promise.all(Array.from({ length: Math.min(20, count - answers.length) }, request))),
    );
  }
  return answers;
}

describe.each([
  ['free', {}, 100],
  ['pro', {}, 1_000],
  ['enterprise', { storage_requests_per_minute: 37 }, 37],
  ['free', { storage_requests_per_minute: 12 }, 12],
])('the plan %s with settings %j', (plan, settings, limit) => {
  it(`lets ${limit} requests a minute pass and no more`, async () => {
    const project = await plinth.createProject({ plan, settings });
    const answers = await many(limit + 5, () => project.service.get(`${project.storage}/buckets`));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.body).toEqual({
      data: null,
      error: { message: expect.any(String), code: 'rate_limited', status: 429 },
    });

    plinth.clock.move(61);
    const next = await project.service.get(`${project.storage}/buckets`);
    expect([next.status, remaining(next)]).toEqual([200, limit - 1]);
    plinth.clock.move(-61);
  });
});

describe('the three headers', () => {
  it('count down from the limit, with the end of the window in Unix seconds', async () => {
    const project = await plinth.createProject();
    const [first, second] = [
      await project.service.get(`${project.storage}/buckets`),
      await project.service.get(`${project.storage}/buckets`),
    ];
    expect(rate(first).slice(0, 2)).toEqual([100, 99]);
    expect(rate(second).slice(0, 2)).toEqual([100, 98]);
    const left = (rate(first)[2] as number) - plinth.clock.now() / 1000;
    expect(left).toBeGreaterThan(30);
    expect(left).toBeLessThanOrEqual(61);
    expect(rate(second)[2]).toBe(rate(first)[2]);
  });

  it('are sent with every response: successes, streams and every kind of error', async () => {
    const project = await plinth.createProject({ plan: 'pro' });
    const user = project.asSubject();
    const base = project.storage;
    await user.post(`${base}/buckets`, { name: 'box', is_public: true });
    const { id } = (await upload(user, base, 'box', 'x')).body.data;
    const url = (await user.post(`${base}/files/${id}/signed-url`, { expiry: '5m' })).body.data.url.replace(
      'http://plinth.test',
      '',
    );
    const answers: [number, HttpAnswer][] = [
      [200, await user.get(`${base}/buckets`)],
      [201, await user.post(`${base}/buckets`, { name: 'another' })],
      [201, await upload(user, base, 'box', 'x', { name: 'b' })],
      [200, await user.get(`${base}/files/${id}/download`)],
      [206, await user.get(`${base}/files/${id}/download`, { headers: { range: 'bytes=0-0' } })],
      [200, await plinth.http.get(url)],
      [200, await plinth.http.get(`${base}/files/${id}/preview`)],
      [304, await plinth.http.get(`${base}/files/${id}/preview`, { headers: { 'if-none-match': '*' } })],
      [400, await user.post(`${base}/buckets`, {})],
      [400, await user.post(`${base}/buckets`, '{')],
      [401, await plinth.http.get(`${base}/buckets`)],
      [401, await project.client('forged', 'forged').get(`${base}/buckets`)],
      [401, await project.client(project.anonKey, 'forged').get(`${base}/buckets`)],
      [401, await plinth.http.get(`${url}x`)],
      [403, await project.anon.post(`${base}/buckets`, { name: 'x' })],
      [404, await user.get(`${base}/buckets/nowhere`)],
      [404, await user.get(`${base}/no/such/address`)],
      [404, await plinth.http.get(`${base}/files/${id.replace(/./g, '0')}/preview`)],
      [409, await user.post(`${base}/buckets`, { name: 'box' })],
      [416, await user.get(`${base}/files/${id}/download`, { headers: { range: 'bytes=9-' } })],
    ];
    for (const [status, answer] of answers) {
      expect([answer.status, rate(answer)]).toEqual([
        status,
        [1_000, expect.any(Number), expect.any(Number)],
      ]);
    }
  });
});

describe('429', () => {
  it('has Retry-After and is sent before the body is read', async () => {
    const project = await plinth.createProject({ settings: { storage_requests_per_minute: 1 } });
    await project.service.get(`${project.storage}/buckets`);
    const answer = await upload(project.service, project.storage, 'box', Buffer.alloc(5_000_000));
    expect(answer.status).toBe(429);
    const seconds = Number(answer.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(rate(answer).slice(0, 2)).toEqual([1, 0]);
  });

  it('applies to signed and preview URLs as well', async () => {
    const project = await plinth.createProject({ settings: { storage_requests_per_minute: 4 } });
    await project.service.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
    const { id } = (await upload(project.service, project.storage, 'box', 'x')).body.data;
    const file = `${project.storage}/files/${id}`;
    const url = (await project.service.post(`${file}/signed-url`, { expiry: '5m' })).body.data.url.replace(
      'http://plinth.test',
      '',
    );
    expect((await plinth.http.get(url)).status).toBe(200);
    expect((await plinth.http.get(url)).status).toBe(429);
    expect((await plinth.http.get(`${file}/preview`)).status).toBe(429);
  });

  it('affects one project only', async () => {
    const [busy, calm] = [
      await plinth.createProject({ settings: { storage_requests_per_minute: 1 } }),
      await plinth.createProject(),
    ];
    await busy.service.get(`${busy.storage}/buckets`);
    expect((await busy.service.get(`${busy.storage}/buckets`)).status).toBe(429);
    expect((await calm.service.get(`${calm.storage}/buckets`)).status).toBe(200);
  });
});

describe('a flood without valid credentials', () => {
  it('does not count against the project: refused credentials, forged links, previews of unknown files', async () => {
    const project = await plinth.createProject({ settings: { storage_requests_per_minute: 20 } });
    const missing = `${project.storage}/files/00000000-0000-4000-8000-000000000000`;
    await many(30, () => plinth.http.get(`${project.storage}/buckets`));
    await many(30, () => project.client(project.anonKey, 'forged').get(`${project.storage}/buckets`));
    await many(30, () => plinth.http.get(`${missing}/signed?expires=1&revision=0&signature=x`));
    await many(30, () => plinth.http.get(`${missing}/preview`));
    const answer = await project.service.get(`${project.storage}/buckets`);
    expect([answer.status, remaining(answer)]).toEqual([200, 19]);
  });

  it('is itself limited if it reaches the database', async () => {
    const project = await plinth.createProject({ settings: { storage_requests_per_minute: 10 } });
    const missing = `${project.storage}/files/00000000-0000-4000-8000-000000000000/preview`;
    for (const { status } of await many(10, () => plinth.http.get(missing))) expect(status).toBe(404);
    expect((await plinth.http.get(missing)).status).toBe(429);
    expect((await project.service.get(`${project.storage}/buckets`)).status).toBe(200);
  });
});

(hasRedis ? describe : describe.skip)('replicas on one Redis', () => {
  let redis: TestRedis;
  let replicas: [TestPlinth, TestPlinth];
  beforeAll(async () => {
    redis = await TestRedis.start();
    const env = { REDIS_URL: redis.url };
    const first = await TestPlinth.start({ env });
    replicas = [first, await TestPlinth.start({ env, replicaOf: first })];
  });
  afterAll(async () => {
    await replicas[1].stop();
    await replicas[0].stop();
    await redis.stop();
  });

  it('let exactly as many requests pass as one replica, then answer 429 with Retry-After on both', async () => {
    const project = await replicas[0].createProject({ settings: { storage_requests_per_minute: 50 } });
    let turn = 0;
    const ask = (): Promise<HttpAnswer> => {
      turn += 1;
      return project.service.at((replicas[turn % 2] as TestPlinth).baseUrl).get(`${project.storage}/buckets`);
    };
    const answers = await many(60, ask);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const answer of refused) {
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(rate(answer).slice(0, 2)).toEqual([50, 0]);
    }
    expect(new Set(answers.map(remaining)).size).toBe(50);
  });

  it('send the shared rate on refusals too', async () => {
    const project = await replicas[0].createProject({ settings: { storage_requests_per_minute: 9 } });
    await project.service.get(`${project.storage}/buckets`);
    const stranger = await replicas[1].http.get(`${project.storage}/buckets`);
    expect([stranger.status, ...rate(stranger).slice(0, 2)]).toEqual([401, 9, 8]);
  });

  it('count separately while Redis is down, refuse ended sessions, and count together once it is back', async () => {
    const project = await replicas[0].createProject({ settings: { storage_requests_per_minute: 9 } });
    const ask = (replica: TestPlinth): Promise<HttpAnswer> =>
      project.service.at(replica.baseUrl).get(`${project.storage}/buckets`);
    const user = await project.signUp();
    await redis.stop();
    try {
      for (const replica of replicas) {
        const answers = await many(12, () => ask(replica));
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(9);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(3);
      }
      expect((await user.http.post(`${project.auth}/logout`)).status).toBe(200);
      for (const { baseUrl } of replicas) {
        const { status } = await user.http.at(baseUrl).get('/rest/v1/nothing');
        expect(status).toBe(401);
      }
    } finally {
      redis = await redis.startAgain();
    }
    // Redis is empty, so the first request that it counts begins a window, which both share.
    await eventually(async () => expect((await ask(replicas[0])).status).toBe(200), 20_000);
    await eventually(async () => expect((await ask(replicas[1])).status).toBe(200), 20_000);
    const [one, two] = [await ask(replicas[0]), await ask(replicas[1])];
    expect((remaining(one) ?? 0) - (remaining(two) ?? 0)).toBe(1);
  }, 60_000);
});
