/** scripts/lib/openapi-changes.mjs names the changes of a document that break clients. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

interface Report {
  readonly breaking: string[];
  readonly other: string[];
}

const SCRIPT = `
  import { openApiChanges } from ${JSON.stringify(join(__dirname, '../../scripts/lib/openapi-changes.mjs'))};
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  console.log(JSON.stringify(JSON.parse(text).map(([before, after]) => openApiChanges(before, after))));
`;

/** In its own process, because Jest does not load ES modules. */
function changesOf(pairs: readonly (readonly [unknown, unknown])[]): Report[] {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    input: JSON.stringify(pairs),
    encoding: 'utf8',
  });
  return JSON.parse(output) as Report[];
}

const ROW = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, mood: { enum: ['a', 'b'] } },
};
const INSERT = {
  type: 'object',
  properties: { id: { type: ['integer', 'null'] }, mood: { enum: ['a', 'b'] } },
};
const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

function documentWith(change: { row?: object; insert?: object; operation?: object; paths?: object }): object {
  const post = {
    operationId: 'insertPets',
    parameters: [{ name: 'select', in: 'query', schema: { type: 'string' } }],
    requestBody: { content: { 'application/json': { schema: ref('PetsInsert') } } },
    responses: {
      201: { content: { 'application/json': { schema: { type: 'array', items: ref('Pets') } } } },
      409: {},
    },
    ...change.operation,
  };
  return {
    paths: change.paths ?? { '/pets': { post } },
    components: { schemas: { Pets: change.row ?? ROW, PetsInsert: change.insert ?? INSERT } },
  };
}

const BODY = 'POST /pets body application/json';
const ANSWER = 'POST /pets 201 application/json[]';
const SELECT = { name: 'select', in: 'query', schema: { type: 'string' } };

const BREAKING: readonly (readonly [change: Parameters<typeof documentWith>[0], lines: readonly string[]])[] =
  [
    [{ paths: {} }, ['POST /pets: removed']],
    [{ operation: { operationId: 'addPets' } }, ['POST /pets: operationId insertPets is now addPets']],
    [{ operation: { parameters: [] } }, ['POST /pets query select: removed']],
    [
      { operation: { parameters: [{ ...SELECT, required: true }] } },
      ['POST /pets query select: now required'],
    ],
    [{ insert: { ...INSERT, required: ['mood'] } }, [`${BODY}.mood: now required`]],
    [{ insert: { ...INSERT, properties: { mood: INSERT.properties.mood } } }, [`${BODY}.id: removed`]],
    [
      { insert: { ...INSERT, properties: { ...INSERT.properties, id: { type: 'integer' } } } },
      [`${BODY}.id: type integer|null is now integer`],
    ],
    [
      { insert: { ...INSERT, properties: { ...INSERT.properties, mood: { enum: ['a'] } } } },
      [`${BODY}.mood: "b" is no longer accepted`],
    ],
    [
      { row: { ...ROW, properties: { ...ROW.properties, mood: { enum: ['a', 'b', 'c'] } } } },
      [`${ANSWER}.mood: "c" is a new value`],
    ],
    [{ row: { ...ROW, required: [] } }, [`${ANSWER}.id: no longer always present`]],
    [
      { row: { ...ROW, properties: { ...ROW.properties, id: { type: ['integer', 'null'] } } } },
      [`${ANSWER}.id: type integer is now integer|null`],
    ],
  ];

const HARMLESS = [
  {},
  { insert: { ...INSERT, properties: { ...INSERT.properties, name: { type: 'string' } } } },
  { row: { ...ROW, properties: { ...ROW.properties, name: { type: 'string' } } } },
  { operation: { parameters: [SELECT, { ...SELECT, name: 'order' }] } },
];

it('lists exactly the changes that break clients', () => {
  const before = documentWith({});
  const reports = changesOf(BREAKING.map(([change]) => [before, documentWith(change)]));
  expect(reports.map(({ breaking }) => breaking)).toEqual(BREAKING.map(([, lines]) => lines));
  const harmless = changesOf(HARMLESS.map((change) => [before, documentWith(change)]));
  expect(harmless.flatMap(({ breaking }) => breaking)).toEqual([]);
  expect(harmless.at(-1)?.other).toEqual(['POST /pets query order: added']);
});
