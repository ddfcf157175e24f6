/** The cache of verified tokens is bounded, however many a project signs. */
import { randomBytes, randomUUID } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import { memoryInUse } from '../../support/memory-probe';
import { signText } from '../../support/sign-text';
import { TestProject } from '../../support/test-project';
import { rawExchange } from '../../support/uploads';

/** Nearly the largest token accepted (8 KiB): one round of these exceeds the cache. */
const PADDING_BYTES = 2_900;
const TOKENS_A_ROUND = 1_600;
const TOKENS_A_KEY = 100;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
});
afterAll(() => plinth.stop());

/** jsonwebtoken takes milliseconds for each: it tries to read the secret as a PEM. */
const signed = (claims: object): string =>
  signText(project.jwtSecret, '{"alg":"HS256"}', JSON.stringify(claims));

/** Sends a round of requests, each with its own token, under many keys. @returns bytes in use afterwards */
async function memoryAfterRound(): Promise<number> {
  for (let n = 0; n < TOKENS_A_ROUND; n += TOKENS_A_KEY) {
    const apikey = signed({ project_id: project.id, role: 'anon', number: randomUUID() });
    const requests = Array.from({ length: TOKENS_A_KEY }, (_, index) => {
      const padding = randomBytes(PADDING_BYTES).toString('hex');
      const bearer = signed({ role: 'authenticated', padding });
      const last = index === TOKENS_A_KEY - 1 ? 'Connection: close\r\n' : '';
      return `OPTIONS /rest/v1 HTTP/1.1\r\nHost: x\r\n${last}apikey: ${apikey}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
    });
    const answers = await rawExchange(plinth.baseUrl, requests.join(''));
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(TOKENS_A_KEY);
  }
  return memoryInUse();
}

it('a second round of large tokens adds little memory', async () => {
  const first = await memoryAfterRound();
  const second = await memoryAfterRound();
  const sent = TOKENS_A_ROUND * 2 * PADDING_BYTES;
  expect(second - first).toBeLessThan(sent / 4);
}, 120_000);

it('a token makes a different caller with each of the two keys', async () => {
  await project.sql(
    'create function whoami() returns text language sql stable as $$ select current_role::text $$',
  );
  const token = project.token({ role: 'authenticated' });
  const roleBeside = async (key: string): Promise<unknown> =>
    (await project.client(key, token).post('/rest/v1/rpc/whoami', {})).body;
  for (let n = 0; n < 2; n += 1) {
    expect(await roleBeside(project.anonKey)).toBe('authenticated');
    expect(await roleBeside(project.serviceKey)).toBe('service_role');
  }
});
