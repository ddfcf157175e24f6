/** With REDIS_URL: mails are queued and guesses are counted in Redis; the answers are the same. */
import { eventually, MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { hasRedis, TestRedis } from '../../support/redis-server';
import { TestProject } from '../../support/test-project';

(hasRedis ? describe : describe.skip)('with REDIS_URL', () => {
  let redis: TestRedis;
  let smtp: MailServer;
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    redis = await TestRedis.start();
    smtp = await MailServer.start();
    plinth = await TestPlinth.start({
      env: { REDIS_URL: redis.url, SMTP_URL: smtp.url },
      tuning: { mailRetryDelayMs: 50 },
    });
    plinth.clock.hold();
    project = await plinth.createProject();
  });
  afterAll(async () => {
    await plinth.stop();
    await smtp.stop();
    await redis.stop();
  });

  it('delivers a reset mail, also when the server refuses it first', async () => {
    const user = await project.signUp();
    const client = project.client(project.anonKey, null);
    smtp.mood = 'refuse';
    await client.post(`${project.auth}/reset-password`, { email: user.email });
    await eventually(() => (smtp.refusals >= 1 ? true : null));
    smtp.mood = 'accept';
    const token = tokenIn(await smtp.mailTo(user.email));
    const update = { token, password: 'a new password' };
    expect((await client.post(`${project.auth}/update-password`, update)).status).toBe(200);
  });

  it('slows down guesses: 429 with Retry-After', async () => {
    const user = await project.signUp();
    const client = project.client(project.anonKey, null);
    const statuses = [];
    for (let n = 0; n < 11; n += 1) {
      const answer = await client.post(`${project.auth}/login`, {
        email: user.email,
        password: `guess ${n}`,
      });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
  });

  it('counts guesses in the process while Redis hangs, and in Redis again afterwards', async () => {
    const [user, other] = [await project.signUp(), await project.signUp()];
    const client = project.client(project.anonKey, null);
    const signIn = (password = user.password) =>
      client.post(`${project.auth}/login`, { email: user.email, password });
    redis.pause();
    try {
      expect((await signIn()).status).toBe(200);
      const statuses = [];
      for (let n = 0; n < 11; n += 1) statuses.push((await signIn(`guess ${n}`)).status);
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429]);
      // All processes share Redis, so a load balancer would otherwise find no process that is ready.
      const ready = await plinth.http.get('/health/ready');
      expect(ready).toMatchObject({ status: 200, body: { checks: { redis: { status: 'down' } } } });
      expect((await other.http.post(`${project.auth}/logout`)).status).toBe(200);
      expect((await other.http.get(`${project.auth}/user`)).status).toBe(401);
    } finally {
      redis.resume();
    }
    // Redis has not counted these guesses.
    expect(await eventually(async () => ((await signIn()).status === 200 ? true : null))).toBe(true);
  });

  it('stops although a worker has not yet reconnected to Redis', async () => {
    const other = await TestPlinth.start({ env: { REDIS_URL: redis.url } });
    await redis.stop();
    await eventually(async () => ((await redisOf(other)) === 'down' ? true : null));
    redis = await redis.startAgain();
    await eventually(async () => ((await redisOf(other)) === 'up' ? true : null));
    await expect(other.stop()).resolves.toBeUndefined();
  });
});

async function redisOf({ http }: TestPlinth): Promise<unknown> {
  const { body } = await http.get('/health/ready');
  return body.checks.redis?.status;
}
