/** Names of every kind in a project's OpenAPI document and types: both stay valid, and the addresses are true. */
import { quoteIdentifier } from '../../../src/database/sql/identifier';
import { faultsOf, type OpenApiDocument, operationsOf } from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { compileFaults, SAME } from '../../support/type-check';

/* eslint-disable @typescript-eslint/no-explicit-any -- documents of the product under test */

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
  expect(tables).toHaveLength(NAMES.length + 2);
  for (const { path } of tables) {
    const answer = await project.service.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
  }
});

it('form paths and arguments that the functions answer', async () => {
  const calls = operationsOf(document).filter(({ operation }) => operation.operationId.startsWith('get'));
  expect(calls.length).toBeGreaterThanOrEqual(NAMES.length);
  for (const { path, operation } of calls) {
    if (!path.includes('/rest/v1/rpc/')) continue;
    const [{ name }] = operation.parameters;
    const answer = await project.service.get(`${path}?${encodeURIComponent(name)}=7`);
    expect([path, answer.status, answer.body]).toEqual([path, 200, 7]);
  }
});

it('form filters that the table accepts', async () => {
  const operation = document.paths[`/p/${project.slug}/rest/v1/sla%2Fsh`]!.get;
  const filters = operation.parameters
    .map(({ $ref }: { $ref: string }) => $ref.split('/').pop() as string)
    .filter((name: string) => name.includes('Filter'))
    .map((name: string) => document.components.parameters[name].name as string);
  expect(filters).toHaveLength(NAMES.length);
  for (const name of filters) {
    const query = `${encodeURIComponent(name)}=is.null`;
    const answer = await project.service.get(`/p/${project.slug}/rest/v1/sla%2Fsh?${query}`);
    expect([name, answer.status, answer.body?.length]).toEqual([name, 200, 1]);
    const none = await project.service.get(
      `/p/${project.slug}/rest/v1/sla%2Fsh?${query.replace('is.null', 'eq.x')}`,
    );
    expect([name, none.status, none.body]).toEqual([name, 200, []]);
  }
});

it('are the same in the types of TypeScript as in the document', async () => {
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

it('make types that compile, with each name once', async () => {
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
      type _1 = Same<keyof Database['public']['Tables'], Names | 'typed'>;
      type _2 = Same<keyof Database['public']['Functions'], Names>;
      type _3 = Same<keyof Database['public']['Tables']['a b']['Row'], Names>;
      type _4 = Same<keyof AB | keyof ABInsert | keyof PublicAB, Names>;
      type _5 = Same<OtherSchemaTAble, Database['other.schema']['Tables']['t.able']['Row']>;
    `,
  };
  expect(compileFaults(files)).toEqual([]);
  const declared = [...files['typescript.ts'].matchAll(/^export type (\w+) =/gm)].map(([, name]) => name);
  expect(new Set(declared).size).toBe(declared.length);
  // Row, Insert and Update of each table, Args and Result of each function, the row of another schema, and Json.
  expect(declared.length).toBeGreaterThanOrEqual(NAMES.length * 5);
});
