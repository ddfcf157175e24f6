/** The calls of table REST for any table and function, for the platform's document, which lists no tables. */
import {
  type Content,
  listOf,
  type Operation,
  type Parameter,
  parameterRef,
  type PathItem,
  type Schema,
} from '../openapi/model';
import { restErrors } from './rest-errors';
import { answerHeaders, KEY_AND_BEARER, restParameters } from './rest-parameters';
import { ALWAYS, tableOperations, WITH_BODY } from './table-operations';

const NEW_ROW = { title: 'Try Plinth' };
const ANSWERED_ROW = { id: 1, ...NEW_ROW, done: false };

const ROW: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'Column names and values',
  examples: [ANSWERED_ROW],
};
const WRITTEN_ROW: Schema = { ...ROW, examples: [NEW_ROW] };

const segment = (name: string, kind: string, example: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description: `A ${kind} of the default schema, or \`<schema>.<${kind.split(' ')[0]}>\``,
  schema: { type: 'string' },
  example,
});
const TABLE = segment('table', 'table or view', 'todos');
/** Generated code could not use the name `function`. */
const ROUTINE = segment('routine', 'function', 'add');

/** A filter has the name of its column: every further query parameter is a filter. */
const FILTERS: Parameter = {
  name: 'filters',
  in: 'query',
  style: 'form',
  explode: true,
  description:
    'Each column is a parameter with the value `operator.value`: `id=eq.1`, `title=like.A*`, `done=is.false`, `id=in.(1,2)`, `deleted_at=not.is.null`. All conditions must be true.',
  schema: { type: 'object', additionalProperties: { type: 'string' } },
  // Swagger UI makes up members of an object without an example.
  example: {},
};

/** A request without any filter would change every row, and is refused with 400. */
const REQUIRED_FILTERS: Parameter = {
  ...FILTERS,
  required: true,
  schema: { ...FILTERS.schema, minProperties: 1 },
  example: { id: 'eq.1' },
};
const REQUIRED = [TABLE, REQUIRED_FILTERS];
const AND = parameterRef('And');

const TABLE_ITEM = tableOperations({
  title: 'a table or view',
  tag: 'rest',
  operationIds: {
    select: 'selectRows',
    insert: 'insertRows',
    upsert: 'upsertRow',
    update: 'updateRows',
    delete: 'deleteRows',
  },
  schemas: { row: ROW, insert: WRITTEN_ROW, update: WRITTEN_ROW },
  examples: { rows: [ANSWERED_ROW], insert: NEW_ROW, upsert: { id: 1, ...NEW_ROW }, update: { done: true } },
  isReadable: true,
  filters: {
    select: [TABLE, FILTERS],
    insert: [TABLE],
    upsert: REQUIRED,
    update: REQUIRED,
    delete: REQUIRED,
  },
  parameters: {
    select: parameterRef('Select'),
    order: parameterRef('Order'),
    columns: parameterRef('Columns'),
    onConflict: parameterRef('OnConflict'),
  },
  and: { update: AND, delete: AND },
  errors: [405],
});

const CALL_PARAMETERS = restParameters(
  'Select',
  'Order',
  'Limit',
  'Offset',
  'And',
  'Or',
  'PreferCall',
  'ConsistencyToken',
);
const HEADERS = answerHeaders('Content-Range', 'Preference-Applied');
const json = (schema: Schema, example: unknown): Content => ({ 'application/json': { schema, example } });

const ANSWERS: Operation['responses'] = {
  200: {
    description: 'The result of the function',
    headers: HEADERS,
    content: json({ description: 'A value, a row or a list of them' }, 3),
  },
  204: { description: 'The function returned nothing', headers: HEADERS },
  206: {
    description: 'A part of the rows, if a count was requested',
    headers: HEADERS,
    content: json(listOf({ description: 'A row, or a value' }), [1, 2]),
  },
};

const ROUTINE_ITEM: PathItem = {
  get: {
    tags: ['rest'],
    security: KEY_AND_BEARER,
    operationId: 'callReadOnlyFunction',
    summary: 'Call a function in a read-only transaction',
    description: 'Calls a function in a read-only transaction, with its arguments in the query.',
    parameters: [
      ROUTINE,
      {
        ...FILTERS,
        // Not `arguments`, which generated code could not use as a name.
        name: 'args',
        description: 'Each argument as its own parameter: `a=1`. Columns of the result can be filtered too.',
        example: { a: '1', b: '2' },
      },
      ...CALL_PARAMETERS,
    ],
    responses: { ...ANSWERS, ...restErrors(...ALWAYS, 405, 406, 409, 416) },
  },
  post: {
    tags: ['rest'],
    security: KEY_AND_BEARER,
    operationId: 'callFunction',
    summary: 'Call a function',
    description: 'Calls a function, with its arguments as members of the body.',
    parameters: [ROUTINE, ...CALL_PARAMETERS],
    requestBody: {
      content: json(
        { description: 'Arguments by name, or the value of a single unnamed argument' },
        { a: 1, b: 2 },
      ),
    },
    responses: { ...ANSWERS, ...restErrors(...WITH_BODY, 405, 416) },
  },
};

export const GENERIC_PATHS: Readonly<Record<string, PathItem>> = {
  '/rest/v1/{table}': TABLE_ITEM,
  '/rest/v1/rpc/{routine}': ROUTINE_ITEM,
};
