/** Requests that name projects that do not exist do not make the server forget those that do. */
import { randomInt } from 'node:crypto';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { signText } from '../../support/sign-text';

/** More than there is room for. */
const UNKNOWN = 2_100;
const PARALLEL = 50;

let plinth: TestPlinth;
beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

/** As long as an id of a project, and as probable. */
const randomId = (): string => Array.from({ length: 20 }, () => randomInt(36).toString(36)).join('');

/** A key that any secret signed, or an address; each names a project that does not exist. */
function askForUnknown(number: number): Promise<HttpAnswer> {
  const id = randomId();
  if (number % 2) return plinth.http.get(`/p/${id}/storage/files/x/preview`);
  const apikey = signText('any secret', '{"alg":"HS256"}', JSON.stringify({ project_id: id, role: 'anon' }));
  return plinth.http.with({ apikey }).get('/rest/v1/notes');
}

it('a flood of keys and slugs of unknown projects pushes no known one out', async () => {
  const project = await plinth.createProject();
  await project.sql('create function one() returns int language sql as $$ select 1 $$');
  const ask = async (): Promise<number> => (await project.anon.post('/rest/v1/rpc/one', {})).status;
  expect(await ask()).toBe(200);
  for (let n = 0; n < UNKNOWN; n += PARALLEL) {
    const answers = await Promise.all(Array.from({ length: PARALLEL }, (_, index) => askForUnknown(index)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 404]));
  }
  // Nothing can be looked up any more: what is answered now was remembered.
  await plinth.dropPlatformDatabase();
  expect(await ask()).toBe(200);
}, 60_000);
