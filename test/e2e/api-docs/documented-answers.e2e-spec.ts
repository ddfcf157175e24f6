/**
 * Table REST answers with the statuses, headers and bodies of the project's document, and the document's examples are
 * correct.
 */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { OF_EVERY_ANSWER } from '../../support/documented/document-checker';
import { misplacedErrors, repeatedErrors, tagFaults } from '../../support/documented/rules';
import type { HttpAnswer } from '../../support/http-client';
import {
  faultsOf,
  type NamedOperation,
  type OpenApiDocument,
  operationsOf,
  resolve,
} from '../../support/openapi';
import { TestPlinth } from '../../support/plinth';
import { SAMPLE_SCHEMA } from '../../support/sample-schema';
import type { TestProject } from '../../support/test-project';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

let plinth: TestPlinth;
let project: TestProject;
let document: OpenApiDocument;

beforeAll(async () => {
  plinth = await TestPlinth.start({ env: { MAX_BODY_SIZE: '100kb' } });
  project = await plinth.createProject({ settings: { exposed_schemas: ['public', 'api'] } });
  await project.sql(SAMPLE_SCHEMA);
  await project.sql(`
    alter table customers disable row level security;
    insert into customers (email) values ('a@example.com'), ('b@example.com');
    insert into orders values (1, 1), (2, 1);
    insert into products values ('x', 1.5);
    insert into order_items values (1, 1, 'x'), (1, 2, 'x');
    insert into transfers (sender, receiver) values (1, 2);
    insert into bookings values (1, '[1,5)');
  `);
  document = (await project.service.get(`/p/${project.slug}/openapi.json`)).body;
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'document', components: document.components });
});
afterAll(() => plinth.stop());

const rest = (name: string): string => `/p/${project.slug}/rest/v1/${name}`;

let ajv: Ajv2020;

/** Checks values against a schema of the document, with all its references. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  return ajv.compile(JSON.parse(text) as object);
}

function operationOf(method: string, path: string): NamedOperation {
  const name = `${method} ${path.split('?')[0]}`;
  const found = operationsOf(document).find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not in the document`);
  return found;
}

function expectDocumented(method: string, path: string, { status, headers, body, text }: HttpAnswer): void {
  const { operation } = operationOf(method, path);
  const response = resolve(document, operation.responses[status]);
  expect([method, path, status, response ? 'documented' : text]).toEqual([
    method,
    path,
    status,
    'documented',
  ]);
  const declared = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const undeclared = [...headers.keys()].filter(
    (name) => !OF_EVERY_ANSWER.test(name) && !declared.includes(name),
  );
  expect([method, path, status, undeclared]).toEqual([method, path, status, []]);
  if (text === '') return;
  const { schema } = response.content['application/json'];
  const validate = validatorOf(schema);
  const isValid = validate(body);
  expect([method, path, status, isValid, validate.errors]).toEqual([method, path, status, true, null]);
}

it('is valid, and resolves name clashes by the documented rule', () => {
  expect(faultsOf(document)).toEqual([]);
  const schemas = Object.keys(document.components.schemas);
  const expected = ['Customers', 'Orders', 'OrdersInsert', 'OrdersUpdate', 'OrderItems', 'PublicOrderItems'];
  const more = ['PublicOrdersInsert', 'PublicDate', 'Words', 'User', 'Files', 'U8868', 'ApiOrders', 'Mood'];
  expect(schemas).toEqual(expect.arrayContaining([...expected, ...more, 'MoneyAmount', 'OrderTotals']));
  for (const name of schemas) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
  for (const { operation } of operationsOf(document)) {
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]*$/);
    expect(operation.tags).toHaveLength(1);
  }
});

const NEW_ORDER = { id: 9, customer_id: 1 };

type Case = [
  title: string,
  status: number,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
];

const CASES: readonly Case[] = [
  ['rows', 200, 'GET', 'customers'],
  ['rows of words', 200, 'GET', 'words'],
  ['a part of the rows', 206, 'GET', 'customers?limit=1', undefined, { prefer: 'count=exact' }],
  ['an ambiguous embed', 300, 'GET', 'transfers?select=*,customers(*)'],
  ['a query that does not parse', 400, 'GET', 'customers?id=nonsense'],
  ['an unknown column', 400, 'GET', 'customers?nothing=eq.1'],
  ['missing rights', 401, 'GET', 'customers', undefined, { authorization: 'Bearer x' }],
  [
    'no single row',
    404,
    'GET',
    'customers?id=eq.0',
    undefined,
    { accept: 'application/vnd.pgrst.object+json' },
  ],
  ['several rows', 406, 'GET', 'customers', undefined, { accept: 'application/vnd.pgrst.object+json' }],
  ['a page beyond the last row', 416, 'GET', 'customers?offset=99', undefined, { prefer: 'count=exact' }],
  ['an inserted row', 201, 'POST', 'orders', NEW_ORDER],
  [
    'an inserted row without its content',
    201,
    'POST',
    'orders',
    { ...NEW_ORDER, id: 10 },
    { prefer: 'return=minimal' },
  ],
  ['its address', 201, 'POST', 'orders', { ...NEW_ORDER, id: 11 }, { prefer: 'return=headers-only' }],
  ['an upsert', 200, 'POST', 'orders', { ...NEW_ORDER, id: 1 }, { prefer: 'resolution=merge-duplicates' }],
  ['a missing value', 400, 'POST', 'orders', { id: 12 }],
  ['a taken key', 409, 'POST', 'orders', { ...NEW_ORDER, id: 2 }],
  ['a missing reference', 409, 'POST', 'orders', { id: 13, customer_id: 99 }],
  ['an overlapping range', 409, 'POST', 'bookings', { room: 2, during: '[2,3)' }],
  ['a body that is too large', 413, 'POST', 'orders', { note: 'x'.repeat(200_000) }],
  ['a body of another type', 415, 'POST', 'orders', 'x', { 'content-type': 'image/png' }],
  ['a replaced row', 200, 'PUT', 'orders?id=eq.1', { ...NEW_ORDER, id: 1 }],
  ['a new row', 201, 'PUT', 'orders?id=eq.14', { ...NEW_ORDER, id: 14 }],
  ['a PUT without the key', 405, 'PUT', 'orders?note=eq.x', NEW_ORDER],
  ['changed rows', 200, 'PATCH', 'orders?id=eq.1', { note: 'n' }],
  [
    'changed rows without their content',
    204,
    'PATCH',
    'orders?id=eq.1',
    { note: 'm' },
    { prefer: 'return=minimal' },
  ],
  ['a change without a filter', 400, 'PATCH', 'orders', { note: 'n' }],
  ['deleted rows', 200, 'DELETE', 'order_items?order_id=eq.1&line=eq.2'],
  ['a row that is referred to', 409, 'DELETE', 'products?sku=eq.x'],
  ['a sum', 200, 'GET', 'rpc/add?a=1'],
  ['a called sum', 200, 'POST', 'rpc/add', { a: 1, b: 5 }],
  ['rows of a function', 200, 'GET', 'rpc/orders_of?customer=1'],
  [
    'a part of the rows of a function',
    206,
    'GET',
    'rpc/orders_of?customer=1&limit=1',
    undefined,
    { prefer: 'count=exact' },
  ],
  [
    'a page beyond its last row',
    416,
    'GET',
    'rpc/orders_of?customer=1&offset=99',
    undefined,
    { prefer: 'count=exact' },
  ],
  [
    'several rows of a function',
    406,
    'GET',
    'rpc/orders_of?customer=1',
    undefined,
    { accept: 'application/vnd.pgrst.object+json' },
  ],
  ['nothing', 204, 'POST', 'rpc/delete', { in: 1 }],
  ['unknown arguments', 404, 'POST', 'rpc/add', { c: 1 }],
  ['a raised conflict', 409, 'POST', 'rpc/fail', { status: '409' }],
  ['a raised refusal', 403, 'POST', 'rpc/fail', { status: '403' }],
];

it.each(
  CASES.map(([title, status, method, path, body, headers = {}]) => ({
    title,
    status,
    method,
    path,
    body,
    headers,
  })),
)('$title: $status', async ({ status, method, path, body, headers }) => {
  const answer = await project.service.send(method, rest(path), {
    ...(body === undefined ? {} : { body }),
    headers,
  });
  expect([answer.status, answer.text]).toEqual([status, answer.text]);
  expectDocumented(method, rest(path), answer);
});

it('answers as documented when row-level security refuses a write', async () => {
  const answer = await project.anon.post(rest('orders'), NEW_ORDER);
  expect(answer.status).toBe(403);
  expectDocumented('POST', rest('orders'), answer);
});

it('has only examples that fit their schemas', () => {
  const faults: unknown[] = [];
  const check = (where: string, schema: any, value: unknown): void => {
    const validate = validatorOf(schema);
    if (!validate(value)) faults.push([where, value, validate.errors]);
  };
  const values = ({ example, examples = {} }: any): unknown[] => [
    ...(example === undefined ? [] : [example]),
    ...Object.values<any>(examples).map(({ value }) => value),
  ];
  for (const [name, parameter] of Object.entries(document.components.parameters)) {
    for (const value of values(parameter)) check(name, parameter.schema, value);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    for (const value of schema.examples ?? []) check(name, schema, value);
  }
  for (const [name, response] of Object.entries(document.components.responses)) {
    for (const media of Object.values<any>(response.content)) {
      for (const value of values(media)) check(name, media.schema, value);
    }
  }
  expect(faults).toEqual([]);
});

it('shows for each error its own status and code', () => {
  expect(misplacedErrors(document)).toEqual([]);
  expect(repeatedErrors(document)).toEqual([]);
});

it('lists the tag of each operation, in order', () => {
  expect(tagFaults(document)).toEqual([]);
});

it('describes every operation, and every error with its own example', () => {
  const poor = operationsOf(document)
    .filter(({ path }) => path.includes('/rest/v1/'))
    .filter(({ operation }) => {
      const errors = Object.entries<any>(operation.responses).filter(([status]) => status >= '300');
      const hasExamples = errors.every(([, one]) => {
        const { content } = resolve(document, one);
        return content['application/json'].example !== undefined;
      });
      return !operation.summary || !operation.description || errors.length < 8 || !hasExamples;
    });
  expect(poor.map(({ name }) => name)).toEqual([]);
});
