/**
 * The documents are kept in git, so that a review shows each change of the interface. `npm run docs` writes them; `npm
 * run openapi:changes` names the changes that break clients.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dump, load } from 'js-yaml';
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

const FOLDER = join(__dirname, '../../snapshots/openapi');

/** A schema with a key, a reference, an enum, a domain, difficult names, another schema and a function. */
const SMALL_SCHEMA = `
  create schema api;
  grant usage on schema api to anon, authenticated, service_role;
  create type mood as enum ('sad', 'it''s ok');
  create domain email as text check (value like '%@%');
  create table customers (
    id bigint generated always as identity primary key,
    email email not null unique,
    mood mood not null default 'sad',
    settings jsonb,
    created_at timestamptz not null default now()
  );
  comment on table customers is 'Who buys';
  create table "Order Items" (id int primary key, customer_id bigint references customers, "order" int[]);
  create view api.customers as select id, email from customers;
  create function add(a int, b int default 1) returns int language sql immutable as 'select a + b';
  create function customers_of(mood mood) returns setof customers language sql stable
    as 'select * from customers c where c.mood = $1';
`;

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({
    name: 'Sample',
    settings: { exposed_schemas: ['public', 'api'] },
  });
  await project.sql(SMALL_SCHEMA);
});
afterAll(() => plinth.stop());

type Parts = Record<string, Record<string, unknown>>;

async function served(name: string): Promise<Record<string, unknown> & { components: Parts }> {
  const answer = await (name === 'platform'
    ? plinth.http.get('/openapi.yaml')
    : project.service.get(`/p/${project.slug}/openapi.yaml`));
  return load(answer.text.replaceAll(project.id, '00000000-0000-4000-8000-000000000000')) as never;
}

/** The project's document without auth, storage and the components that it shares with the platform's document. */
async function withoutPlatform(): Promise<object> {
  const [platform, { paths, components, ...head }] = await Promise.all([
    served('platform'),
    served('project'),
  ]);
  const own = (section: string, parts: Record<string, unknown>): [string, unknown][] =>
    Object.entries(parts).filter(
      ([name, part]) => !isDeepStrictEqual(part, platform.components[section]?.[name]),
    );
  return {
    ...head,
    paths: Object.fromEntries(Object.entries(paths as object).filter(([path]) => path.includes('/rest/v1/'))),
    components: Object.fromEntries(
      Object.entries(components).map(([section, parts]) => [
        section,
        Object.fromEntries(own(section, parts)),
      ]),
    ),
  };
}

it.each(['platform', 'project'])(
  'the snapshot of the %s document equals the document that is served',
  async (name) => {
    const document = name === 'platform' ? await served('platform') : await withoutPlatform();
    const file = join(FOLDER, `${name}.yaml`);
    if (process.env.UPDATE_DOCS === '1')
      writeFileSync(file, dump(document, { lineWidth: -1, noRefs: true, flowLevel: 6 }));
    // Compares values, because Jest takes minutes for the difference of two long texts.
    expect(load(readFileSync(file, 'utf8'))).toEqual(document);
  },
);
