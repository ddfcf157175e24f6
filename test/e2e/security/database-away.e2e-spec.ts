/**
 * An unreachable PostgreSQL causes 503 with Retry-After in every area, for every type of connection error (DECISIONS.md
 * 5).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { PostgresProxy } from '../../support/postgres-proxy';
import type { TestProject } from '../../support/test-project';

const server = (): URL => new URL(process.env.PLINTH_TEST_DATABASE_URL as string);

let directory: string;
let proxy: PostgresProxy;
let plinth: TestPlinth;
let project: TestProject;

async function begin(socketDirectory?: string): Promise<void> {
  proxy = await PostgresProxy.start(server(), socketDirectory);
  plinth = await TestPlinth.start({ databaseUrl: proxy.through(server()).href });
  project = await plinth.createProject();
  await project.sql('create table things (id int primary key)');
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-away-'));
});
afterEach(async () => {
  await proxy.listen();
  await eventually(async () => expect((await project.service.get('/rest/v1/things')).status).toBe(200));
  await plinth.stop();
  await proxy.cut();
  rmSync(directory, { recursive: true, force: true });
});

function requests(): readonly (readonly [string, () => Promise<HttpAnswer>])[] {
  const { service, anon } = project;
  const account = { email: 'a@example.com', password: 'correct horse' };
  return [
    ['a read', () => service.get('/rest/v1/things')],
    ['a write', () => service.post('/rest/v1/things', { id: 1 })],
    ['an unknown table', () => service.get('/rest/v1/no_such_thing')],
    ['a function', () => service.post('/rest/v1/rpc/nothing', {})],
    ['sign-up', () => anon.post(`${project.auth}/signup`, account)],
    ['sign-in', () => anon.post(`${project.auth}/login`, account)],
    ['a list of users', () => service.get(`${project.auth}/admin/users`)],
    ['a list of buckets', () => service.get(`${project.storage}/buckets`)],
    ['a new bucket', () => service.post(`${project.storage}/buckets`, { name: 'b' })],
    [
      'the owner\u2019s SQL',
      () => plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, { query: 'select 1' }),
    ],
    ['a list of projects', () => plinth.admin.get('/admin/v1/projects')],
    ['a new project', () => plinth.admin.post('/admin/v1/projects', { name: 'New' })],
  ];
}

it.each([
  ['ENOENT, no such socket', () => directory],
  ['ECONNREFUSED, no such port', () => undefined],
])('answers 503 with Retry-After in every area: %s', async (_name, place) => {
  await begin(place());
  await proxy.cut();
  const answers = [];
  for (const [name, request] of requests()) {
    // Sends two requests, because the first may use a connection that was cut, and the second must open one.
    for (const turn of [1, 2]) {
      const { status, headers, text } = await request();
      answers.push([
        name,
        turn,
        status,
        headers.get('retry-after') !== null,
        /connect |\/tmp|5432/.test(text),
      ]);
    }
  }
  expect(answers).toEqual(
    requests().flatMap(([name]) => [1, 2].map((turn) => [name, turn, 503, true, false])),
  );
});
