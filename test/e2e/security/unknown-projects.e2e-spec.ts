/** Requests for unknown projects do not evict known projects from the cache. */
import { randomInt } from 'node:crypto';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { signText } from '../../support/sign-text';

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

/** A key signed with some secret, or a path; each names a project that does not exist. */
function askForUnknown(number: number): Promise<HttpAnswer> {
  const id = randomId();
  if (number % 2) return plinth.http.get(`/p/${id}/storage/files/x/preview`);
  const apikey = signText('any secret', '{"alg":"HS256"}', JSON.stringify({ project_id: id, role: 'anon' }));
  return plinth.http.with({ apikey }).get('/rest/v1/notes');
}

it('a flood of unknown keys and slugs evicts no known project', async () => {
  const project = await plinth.createProject();
  await project.sql('create function one() returns int language sql as $$ select 1 $$');
  const ask = async (): Promise<number> => (await project.anon.post('/rest/v1/rpc/one', {})).status;
  expect(await ask()).toBe(200);
  for (let n = 0; n < UNKNOWN; n += PARALLEL) {
    const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, index) => askForUnknown(index)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 404]));
  }
  // No look-up is possible any more, so each response comes from the cache.
  await plinth.dropPlatformDatabase();
  expect(await ask()).toBe(200);
}, 60_000);
