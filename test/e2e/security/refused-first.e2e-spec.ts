/**
 * An invalid credential is answered 401 before any other check, even if only the database can tell that it is invalid.
 */
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let refused: Record<string, HttpClient>;
let welcome: HttpClient;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.sql('create table notes (id int)');
  const user = await project.signUp();
  await user.http.post(`${project.auth}/logout`);
  welcome = (await project.signUp()).http;
  refused = {
    'a revoked session': user.http,
    'the role postgres': project.asSubject(undefined, { role: 'postgres' }),
    'a role that does not exist': project.asSubject(undefined, { role: 'no_such_role' }),
  };
});
afterAll(() => plinth.stop());

const id = '00000000-0000-4000-8000-000000000000';
const REQUESTS: [string, (client: HttpClient) => Promise<{ status: number }>][] = [
  ['an unknown table', (client) => client.get('/rest/v1/nothing')],
  ['an unknown column', (client) => client.get('/rest/v1/notes?nothing=eq.1')],
  ['a malformed filter', (client) => client.get('/rest/v1/notes?id=nonsense')],
  ['a missing filter', (client) => client.delete('/rest/v1/notes')],
  ['malformed JSON for a table', (client) => client.post('/rest/v1/notes', '{"id":')],
  ['an unknown function', (client) => client.post('/rest/v1/rpc/nothing', {})],
  ['an unknown bucket', (client) => client.get(`${project.storage}/buckets/nothing`)],
  ['a bucket without a name', (client) => client.post(`${project.storage}/buckets`, {})],
  ['malformed JSON for a bucket', (client) => client.post(`${project.storage}/buckets`, '{')],
  ['an unknown file', (client) => client.get(`${project.storage}/files/${id}/download`)],
  [
    'an upload that is not a form',
    (client) => client.post(`${project.storage}/buckets/nothing/upload`, '{}'),
  ],
  ['a list with a bad limit', (client) => client.get(`${project.storage}/buckets/nothing/files?limit=x`)],
  [
    'a bulk deletion of nothing',
    (client) => client.post(`${project.storage}/files/bulk-delete`, { file_ids: [] }),
  ],
  [
    'a bulk deletion of no ids',
    (client) => client.post(`${project.storage}/files/bulk-delete`, { file_ids: ['x'] }),
  ],
  ['a profile that is not valid', (client) => client.patch(`${project.auth}/user`, { email: 1 })],
];

it.each(REQUESTS)('%s is 401 for a caller whom only the database refuses', async (_what, send) => {
  for (const [who, client] of Object.entries(refused)) {
    expect({ who, status: (await send(client)).status }).toEqual({ who, status: 401 });
  }
});

it.each(REQUESTS)('%s is reported to a caller with valid credentials', async (_what, send) => {
  const { status } = await send(welcome);
  expect([200, 400, 403, 404, 415]).toContain(status);
});
