/** The calls of table REST for any table and function, for the platform's document, which lists no tables. */
import { type MediaType, type Parameter, parameterRef, type PathItem } from '../openapi/model';
import { listOf, type Schema } from '../../visible-schema/json-schema';
import { callOperation, json, tableOperations } from './table-operations';

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
const filters = [TABLE, REQUIRED_FILTERS];

const written = (example: object): MediaType => ({ schema: WRITTEN_ROW, example });

const TABLE_ITEM = tableOperations({
  title: 'a table or view',
  tag: 'rest',
  verbs: {
    select: { id: 'selectRows', filters: [TABLE, FILTERS] },
    insert: { id: 'insertRows', filters: [TABLE], body: written(NEW_ROW) },
    upsert: { id: 'upsertRow', filters, body: written({ id: 1, ...NEW_ROW }) },
    update: { id: 'updateRows', filters, body: written({ done: true }) },
    delete: { id: 'deleteRows', filters },
  },
  rows: { schema: listOf(ROW), example: [ANSWERED_ROW] },
  errors: [405],
});

const RESULT_PARAMETERS = [
  'Select',
  'Order',
  'Limit',
  'Offset',
  'And',
  'Or',
  'PreferCall',
  'ConsistencyToken',
];
const ARGUMENTS: Parameter = {
  ...FILTERS,
  // Not `arguments`, which generated code could not use as a name.
  name: 'args',
  description: 'Each argument as its own parameter: `a=1`. Columns of the result can be filtered too.',
  example: { a: '1', b: '2' },
};

const CALL = {
  tag: 'rest',
  value: json({ schema: { description: 'A value, a row or a list of them' }, example: 3 }),
  part: json({ schema: listOf({ description: 'A row, or a value' }), example: [1, 2] }),
  mayBeVoid: true,
};

const ROUTINE_ITEM: PathItem = {
  get: callOperation(
    {
      ...CALL,
      id: 'callReadOnlyFunction',
      summary: 'Call a function in a read-only transaction',
      text: 'Calls a function in a read-only transaction, with its arguments in the query.',
      parameters: [ROUTINE, ARGUMENTS, ...RESULT_PARAMETERS.map(parameterRef)],
    },
    false,
  ),
  post: callOperation(
    {
      ...CALL,
      id: 'callFunction',
      summary: 'Call a function',
      text: 'Calls a function, with its arguments as members of the body.',
      parameters: [ROUTINE, ...RESULT_PARAMETERS.map(parameterRef)],
      requestBody: {
        content: json({
          schema: { description: 'Arguments by name, or the value of a single unnamed argument' },
          example: { a: 1, b: 2 },
        }),
      },
    },
    true,
  ),
};

export const GENERIC_PATHS: Readonly<Record<string, PathItem>> = {
  '/rest/v1/{table}': TABLE_ITEM,
  '/rest/v1/rpc/{routine}': ROUTINE_ITEM,
};
