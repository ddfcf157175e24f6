/** Requests for unknown projects do not evict known projects from the cache. */
import { randomInt } from 'node:crypto';
import { TestPlinth } from '../../support/plinth';
import { signText } from '../../support/sign-text';
import { rawExchange } from '../../support/uploads';

/** More than the cache holds. */
const UNKNOWN = 2_100;
const PARALLEL = 50;

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

/** A random id with the length of a project's id. */
const randomId = (): string => Array.from({ length: 20 }, () => randomInt(36).toString(36)).join('');

/** A request with a key signed with some secret, or to a path; each names a project that does not exist. */
function requestOfUnknown(number: number): string {
  const id = randomId();
  const last = number === PARALLEL - 1 ? 'Connection: close\r\n' : '';
  if (number % 2) return `GET /p/${id}/storage/files/x/preview HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
  const apikey = signText('any secret', '{"alg":"HS256"}', JSON.stringify({ project_id: id, role: 'anon' }));
  return `GET /rest/v1/notes HTTP/1.1\r\nHost: x\r\n${last}apikey: ${apikey}\r\n\r\n`;
}

it('a flood of unknown keys and slugs evicts no known project', async () => {
  const project = await plinth.createProject();
  await project.sql('create function one() returns int language sql as $$ select 1 $$');
  const ask = async (): Promise<number> => (await project.anon.post('/rest/v1/rpc/one', {})).status;
  expect(await ask()).toBe(200);
  for (let n = 0; n < UNKNOWN; n += PARALLEL) {
    const requests = Array.from({ length: PARALLEL }, (_, index) => requestOfUnknown(index));
    const answers = await rawExchange(plinth.baseUrl, requests.join(''));
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
    expect([statuses.length, new Set(statuses)]).toEqual([PARALLEL, new Set(['401', '404'])]);
  }
  // No look-up is possible any more, so each response comes from the cache.
  await plinth.dropPlatformDatabase();
  expect(await ask()).toBe(200);
}, 60_000);
