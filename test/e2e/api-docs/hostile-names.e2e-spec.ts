/** Names of every kind in a project's OpenAPI document and types: both stay valid, and the paths work. */
import { quoteIdentifier } from '../../../src/database/sql/identifier';
import { faultsOf, type OpenApiDocument, operationsOf } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { compileFaults, SAME } from '../../support/type-check';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

const NAMES = [
  'quote"d',
  "apo'strophe",
  'sla/sh',
  'til~de',
  'til~1de',
  'per%cent',
  'per%2Fcent',
  'with space',
  ' around ',
  'Ünïcödé',
  '表',
  '🦊',
  'brace{s}',
  'brack[0]',
  'dot.ted',
  'co:lon',
  'q?a=b&c',
  'ha#sh',
  'back\\slash',
  'star*',
  '(paren)',
  'da-sh',
  '-dash',
  '__proto__',
  'constructor',
  '$ref',
  'a_b',
  'a b',
  'A_B',
  'select',
  'order',
  'limit',
  'auth',
  'storage',
  'rpc',
  '<script>',
  'new\nline',
];

/** Column names that generated clients can use as names of query parameters. */
const PARAMETERS = [
  'with space',
  'Ünïcödé',
  '表',
  'da-sh',
  '$ref',
  'a_b',
  'a b',
  'A_B',
  'auth',
  'storage',
  'rpc',
];

let plinth: TestPlinth;
let project: TestProject;
let document: OpenApiDocument;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ settings: { exposed_schemas: ['public', 'other.schema'] } });
  const columns = NAMES.map((name) => `${quoteIdentifier(name)} text`).join(', ');
  await project.sql(`
    create schema "other.schema"; grant usage on schema "other.schema" to service_role;
    ${NAMES.map((name) => `create table ${quoteIdentifier(name)} (${columns}); insert into ${quoteIdentifier(name)} default values;`).join('\n')}
    create table "other.schema"."t.able" (id int); grant all on "other.schema"."t.able" to service_role;
    ${NAMES.map((name) => `create function ${quoteIdentifier(name)}(${quoteIdentifier(name)} int) returns int language sql immutable as 'select $1';`).join('\n')}
    create type "ty""pe/~%" as ("at""tr/~" int);
    create table ranks ("order" int primary key, "limit" int); insert into ranks values (1, 2);
    create table bodies (body text primary key, note text not null);
    create table typed (value "ty""pe/~%"); 
    comment on table typed is '*/ </script> "quoted" \\ {{x}}';
  `);
  document = (await project.service.get(`/p/${project.slug}/openapi.json`)).body;
});
afterAll(() => plinth.stop());

it('leave the document valid, with unique operation names', () => {
  expect(faultsOf(document)).toEqual([]);
});

it('are all listed, each with all columns', () => {
  const rows = Object.entries<any>(document.components.schemas).filter(
    ([name, { properties = {} }]) => !/(Insert|Update)$/.test(name) && Object.hasOwn(properties, 'quote"d'),
  );
  expect(rows).toHaveLength(NAMES.length);
  for (const [name, { properties }] of rows) {
    expect([name, Object.keys(properties).sort()]).toEqual([name, [...NAMES].sort()]);
  }
});

it('form paths that the tables answer', async () => {
  const tables = operationsOf(document).filter(({ operation }) => operation.operationId.startsWith('select'));
  expect(tables).toHaveLength(NAMES.length + 4);
  for (const { path } of tables) {
    const answer = await project.service.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
  }
});

it('form paths and arguments that the functions answer', async () => {
  const calls = operationsOf(document).filter(({ path }) => path.includes('/rest/v1/rpc/'));
  const posts = calls.filter(({ name }) => name.startsWith('POST'));
  expect(posts).toHaveLength(NAMES.length);
  for (const { path, operation } of posts) {
    const [argument] = operation.requestBody.content['application/json'].schema.required;
    const answer = await project.service.post(path, { [argument]: 7 });
    expect([path, answer.status, answer.body]).toEqual([path, 200, 7]);
  }
  const gets = calls.filter(({ name }) => name.startsWith('GET'));
  expect(gets.map(({ operation }) => operation.parameters[0].name).sort()).toEqual([...PARAMETERS].sort());
  for (const { path, operation } of gets) {
    const answer = await project.service.get(`${path}?${encodeURIComponent(operation.parameters[0].name)}=7`);
    expect([path, answer.status, answer.body]).toEqual([path, 200, 7]);
  }
});

it('form filters that the table accepts: parameters, or terms of and= if a client cannot represent the name', async () => {
  const path = `/p/${project.slug}/rest/v1/sla%2Fsh`;
  const { parameters, description } = document.paths[path]!.get;
  const filters = parameters
    .map(({ $ref }: { $ref: string }) => $ref.split('/').pop() as string)
    .filter((name: string) => name.includes('Filter'))
    .map((name: string) => document.components.parameters[name].name as string);
  expect([...filters].sort()).toEqual([...PARAMETERS].sort());
  const others = NAMES.filter((name) => !PARAMETERS.includes(name)).map(inList);
  for (const name of others) expect(description).toContain(`\`${name}\``);
  for (const [operation, rows] of [
    ['is.null', 1],
    ['eq.x', 0],
  ] as const) {
    const queries = [
      ...filters.map((name: string) => [name, operation]),
      ...others.map((name) => ['and', `(${name}.${operation})`]),
    ];
    for (const query of queries) {
      const answer = await project.service.get(
        `${path}?${new URLSearchParams([query as [string, string]]).toString()}`,
      );
      expect([query, answer.status, answer.body?.length]).toEqual([query, 200, rows]);
    }
  }
});

it('are the same in the TypeScript types and in the document', async () => {
  const { text } = await project.service.get(`/p/${project.slug}/types.ts`);
  const declared = new Set([...text.matchAll(/^export type (\w+) =/gm)].map(([, name]) => name as string));
  const ofFunctions = [...declared].filter((name) => /(Args|Result)$/.test(name));
  const ofRows = [...declared].filter((name) => !ofFunctions.includes(name) && name !== 'Json');
  expect(ofRows.filter((name) => !Object.hasOwn(document.components.schemas, name))).toEqual([]);
  const ids = operationsOf(document).map(({ operation }) => operation.operationId as string);
  const stemsOf = (verb: string): string[] =>
    ids.filter((id) => id.startsWith(verb)).map((id) => id.slice(verb.length));
  const expected = [
    ...stemsOf('select').flatMap((stem) => [stem, `${stem}Insert`, `${stem}Update`]),
    ...stemsOf('call').flatMap((stem) => [`${stem}Args`, `${stem}Result`]),
  ];
  expect(expected.filter((name) => !declared.has(name))).toEqual([]);
  expect(ofFunctions.length).toBe(2 * stemsOf('call').length);
});

it('require and= for changes of a table that has no column with a parameter', async () => {
  const path = `/p/${project.slug}/rest/v1/ranks`;
  const { put, patch, delete: remove } = document.paths[path]!;
  expect(put).toBeUndefined();
  for (const { parameters } of [patch, remove]) {
    expect(parameters.filter(({ required }: any) => required)).toMatchObject([{ name: 'and', in: 'query' }]);
  }
  const { example } = patch.parameters.find(({ name }: any) => name === 'and');
  const answer = await project.service.patch(`${path}?and=${encodeURIComponent(example)}`, { limit: 3 });
  expect([answer.status, answer.body]).toEqual([200, [{ order: 1, limit: 3 }]]);
});

it('omit a parameter whose name is that of the request body', () => {
  const { put, patch, delete: remove } = document.paths[`/p/${project.slug}/rest/v1/bodies`]!;
  const required = ({ parameters }: any): string[] =>
    parameters.filter((one: any) => one.required).map(({ name }: any) => name);
  expect([put, required(patch), required(remove)]).toEqual([undefined, ['note'], ['body']]);
});

/** The name as the document writes it, quoted if the grammar requires quotes. */
function inList(name: string): string {
  const isPlain = /^[\w$]+$/.test(name) && !['select', 'order', 'limit'].includes(name);
  return isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
}

it('form types that compile, with each name once', async () => {
  const types = async (lang: string): Promise<string> =>
    (await project.service.get(`/p/${project.slug}/types.ts?lang=${lang}`)).text;
  const files = {
    'typescript.ts': await types('typescript'),
    'supabase.ts': await types('supabase'),
    'usage.ts': `
      ${SAME}
      import type { Database } from './supabase';
      import type { AB, ABInsert, OtherSchemaTAble, PublicAB } from './typescript';
      type Names = ${NAMES.map((name) => JSON.stringify(name)).join(' | ')};
      type _1 = Same<keyof Database['public']['Tables'], Names | 'bodies' | 'ranks' | 'typed'>;
      type _2 = Same<keyof Database['public']['Functions'], Names>;
      type _3 = Same<keyof Database['public']['Tables']['a b']['Row'], Names>;
      type _4 = Same<keyof AB | keyof ABInsert | keyof PublicAB, Names>;
      type _5 = Same<OtherSchemaTAble, Database['other.schema']['Tables']['t.able']['Row']>;
    `,
  };
  expect(compileFaults(files)).toEqual([]);
  const declared = [...files['typescript.ts'].matchAll(/^export type (\w+) =/gm)].map(([, name]) => name);
  expect(new Set(declared).size).toBe(declared.length);
  // Five types for each name: Row, Insert and Update of its table, Args and Result of its function. Further types are the row of
  // another schema, and Json.
  expect(declared.length).toBeGreaterThanOrEqual(NAMES.length * 5);
});
