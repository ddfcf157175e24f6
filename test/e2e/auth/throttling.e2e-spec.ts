/** Growing delays for requests without a session: sign-up, reset, resend, verify (passwords: attacks, codes: factors). */
import { randomBytes, randomUUID } from 'node:crypto';
import { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

const PER_MINUTE = 20;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { TRUST_PROXY: '1', AUTH_REQUESTS_PER_MINUTE: String(PER_MINUTE) },
    tuning: { failureShare: 50 / PER_MINUTE },
  });
  plinth.clock.hold();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

const from = (ip: string): HttpClient =>
  project.client(project.anonKey, null).with({ 'x-forwarded-for': ip });

/** Retry-After of a refusal, in seconds. */
function waitOf(answer: HttpAnswer): number {
  expect(answer.status).toBe(429);
  return Number(answer.headers.get('retry-after'));
}

it.each<[string, string, () => object]>([
  ['signup', '198.51.100.1', () => ({ email: `u-${randomUUID()}@example.com`, password: 'secret' })],
  ['reset-password', '198.51.100.2', () => ({ email: `u-${randomUUID()}@example.com` })],
  ['resend-verification', '198.51.100.3', () => ({ email: `u-${randomUUID()}@example.com` })],
])(
  'POST /%s is delayed longer each time one address exceeds its limit, without effect on other addresses',
  async (path, ip, body) => {
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let n = 0; n < PER_MINUTE; n += 1) {
        expect((await from(ip).post(`${project.auth}/${path}`, body())).status).toBeLessThan(300);
      }
      waits.push(waitOf(await from(ip).post(`${project.auth}/${path}`, body())));
      plinth.clock.move((waits.at(-1) as number) + 1);
    }
    expect(waits.map((wait) => wait / 60)).toEqual([1, 2, 4, 8]);
    expect((await from('203.0.113.9').post(`${project.auth}/${path}`, body())).status).toBeLessThan(300);
  },
);

it('mails to one mailbox are delayed longer each time, from any client: 5 minutes, 10, 20, 40, an hour', async () => {
  const user = await project.signUp();
  let requests = 0;
  const ask = () =>
    from(`10.9.${(requests += 1)}.1`).post(`${project.auth}/reset-password`, { email: user.email });
  for (let n = 0; n < 10; n += 1) expect((await ask()).status).toBe(200);
  const waits: number[] = [];
  for (let n = 0; n < 6; n += 1) {
    waits.push(waitOf(await ask()));
    plinth.clock.move(waits.at(-1) as number);
    expect((await ask()).status).toBe(200);
  }
  expect(waits.map((wait) => wait / 60)).toEqual([5, 10, 20, 40, 60, 60]);
});

it.each([
  ['update-password', '198.51.100.11'],
  ['verify-email', '198.51.100.12'],
])('guesses of mailed tokens at /%s are delayed for the address', async (path, ip) => {
  const guess = () =>
    from(ip).post(`${project.auth}/${path}`, {
      token: randomBytes(32).toString('base64url'),
      password: 'a new password',
    });
  const statuses: number[] = [];
  for (let n = 0; n < 53; n += 1) {
    // Below the request limit, so that only wrong tokens are limited.
    if (n % PER_MINUTE === PER_MINUTE - 1) plinth.clock.move(61);
    statuses.push((await guess()).status);
  }
  expect(statuses.slice(0, 50)).toEqual(Array<number>(50).fill(401));
  expect(statuses.slice(50)).toEqual([429, 429, 429]);
});
