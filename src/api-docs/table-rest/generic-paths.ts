/** The calls of table REST for any table and function, for the platform's document, which knows no table. */
import {
  listOf,
  type Operation,
  type Parameter,
  type PathItem,
  type Response,
  type Schema,
} from '../openapi/model';
import { restErrors, type RestErrorStatus } from './rest-errors';
import { type AnswerHeader, answerHeaders, KEY_AND_BEARER, restParameters } from './rest-parameters';

const NEW_ROW = { title: 'Try Plinth' };
const ANSWERED_ROW = { id: 1, ...NEW_ROW, done: false };

const ROW: Schema = {
  type: 'object',
  additionalProperties: true,
  description: 'Column names and values',
  examples: [ANSWERED_ROW],
};
const WRITTEN_ROW: Schema = { ...ROW, examples: [NEW_ROW] };

const TABLE: Parameter = {
  name: 'table',
  in: 'path',
  required: true,
  description: 'A table or view of the default schema, or `<schema>.<table>`',
  schema: { type: 'string' },
  example: 'todos',
};

/** Named by the column: every further query parameter is a filter. */
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

const ALWAYS: readonly RestErrorStatus[] = [300, 400, 401, 403, 404, 405, 429, 500, 503];
const WITH_BODY: readonly RestErrorStatus[] = [...ALWAYS, 406, 408, 409, 413, 415];
const WRITTEN: readonly AnswerHeader[] = ['Content-Range', 'Preference-Applied'];
const READ: readonly AnswerHeader[] = ['Content-Range', 'Content-Location', 'Preference-Applied'];

const rows = (description: string, headers: readonly AnswerHeader[]): Response => ({
  description,
  headers: answerHeaders(...headers),
  content: { 'application/json': { schema: listOf(ROW), example: [ANSWERED_ROW] } },
});

const none = (headers: readonly AnswerHeader[]): Response => ({
  description: 'With return=minimal or headers-only',
  headers: answerHeaders(...headers),
});

const jsonBody = (schema: Schema, example: unknown): Operation['requestBody'] => ({
  required: true,
  content: { 'application/json': { schema, example } },
});

const BASE = { tags: ['rest'], security: KEY_AND_BEARER };

const tableItem: PathItem = {
  get: {
    ...BASE,
    operationId: 'selectRows',
    summary: 'Select rows of a table or view',
    description: 'Returns the rows that match the filters and that row-level security lets the caller see.',
    parameters: [
      TABLE,
      FILTERS,
      ...restParameters(
        'Select',
        'Order',
        'Limit',
        'Offset',
        'And',
        'Or',
        'Range',
        'PreferRead',
        'ConsistencyToken',
      ),
    ],
    responses: {
      200: rows('The rows', READ),
      206: rows('A part of the rows, if a count was requested', READ),
      ...restErrors(...ALWAYS, 406, 416),
    },
  },
  post: {
    ...BASE,
    operationId: 'insertRows',
    summary: 'Insert rows into a table or view',
    description:
      'Inserts one row, or a list of rows, all or none. With `Prefer: resolution=merge-duplicates`, existing rows are updated.',
    parameters: [TABLE, ...restParameters('Select', 'Order', 'Columns', 'OnConflict', 'PreferInsert')],
    requestBody: jsonBody({ oneOf: [WRITTEN_ROW, listOf(WRITTEN_ROW)] }, NEW_ROW),
    responses: {
      200: rows('The rows of an upsert that only updated rows', WRITTEN),
      201: rows('The new rows; no body with return=minimal or headers-only', [...WRITTEN, 'Location']),
      ...restErrors(...WITH_BODY),
    },
  },
  put: {
    ...BASE,
    operationId: 'upsertRow',
    summary: 'Insert or replace a row of a table',
    description: 'Inserts the row with the primary key in the filters, or replaces it if it exists.',
    parameters: [TABLE, REQUIRED_FILTERS, ...restParameters('Select', 'Columns', 'PreferPut')],
    requestBody: jsonBody(WRITTEN_ROW, { id: 1, ...NEW_ROW }),
    responses: {
      200: rows('The replaced row', ['Preference-Applied']),
      201: rows('The new row', ['Preference-Applied']),
      204: none(['Preference-Applied']),
      ...restErrors(...WITH_BODY),
    },
  },
  patch: {
    ...BASE,
    operationId: 'updateRows',
    summary: 'Update rows of a table or view',
    description:
      'Updates the rows that match the filters. A request without any filter is refused with 400, and changes nothing.',
    parameters: [
      TABLE,
      REQUIRED_FILTERS,
      ...restParameters('Select', 'Order', 'And', 'Or', 'Columns', 'PreferUpdate'),
    ],
    requestBody: jsonBody(WRITTEN_ROW, { done: true }),
    responses: {
      200: rows('The updated rows', WRITTEN),
      204: none(WRITTEN),
      ...restErrors(...WITH_BODY),
    },
  },
  delete: {
    ...BASE,
    operationId: 'deleteRows',
    summary: 'Delete rows of a table or view',
    description:
      'Deletes the rows that match the filters. A request without any filter is refused with 400, and changes nothing.',
    parameters: [TABLE, REQUIRED_FILTERS, ...restParameters('Select', 'Order', 'And', 'Or', 'PreferDelete')],
    responses: {
      200: rows('The deleted rows', WRITTEN),
      204: none(WRITTEN),
      ...restErrors(...ALWAYS, 406, 409),
    },
  },
};

/** Not `function`, which generated code could not use as a name. */
const ROUTINE: Parameter = {
  name: 'routine',
  in: 'path',
  required: true,
  description: 'A function of the default schema, or `<schema>.<function>`',
  schema: { type: 'string' },
  example: 'add',
};

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

const callAnswers: Operation['responses'] = {
  200: {
    description: 'The result of the function',
    headers: answerHeaders(...WRITTEN),
    content: {
      'application/json': { schema: { description: 'A value, a row or a list of them' }, example: 3 },
    },
  },
  204: { description: 'The function returned nothing', headers: answerHeaders(...WRITTEN) },
  206: {
    description: 'A part of the rows, if a count was requested',
    headers: answerHeaders(...WRITTEN),
    content: {
      'application/json': { schema: listOf({ description: 'A row, or a value' }), example: [1, 2] },
    },
  },
};

const routineItem: PathItem = {
  get: {
    ...BASE,
    operationId: 'callReadOnlyFunction',
    summary: 'Call a function in a read-only transaction',
    description: 'Calls a function in a read-only transaction, with its arguments in the query.',
    parameters: [
      ROUTINE,
      {
        ...FILTERS,
        // Not `arguments`, which generated code could not use as a name.
        name: 'args',
        description:
          'Each argument as a parameter of its own: `a=1`. Columns of the result can be filtered too.',
        example: { a: '1', b: '2' },
      },
      ...CALL_PARAMETERS,
    ],
    responses: { ...callAnswers, ...restErrors(...ALWAYS, 406, 409, 416) },
  },
  post: {
    ...BASE,
    operationId: 'callFunction',
    summary: 'Call a function',
    description: 'Calls a function, with its arguments as members of the body.',
    parameters: [ROUTINE, ...CALL_PARAMETERS],
    requestBody: {
      content: {
        'application/json': {
          schema: { description: 'Arguments by name, or the value of a single unnamed argument' },
          example: { a: 1, b: 2 },
        },
      },
    },
    responses: { ...callAnswers, ...restErrors(...WITH_BODY, 416) },
  },
};

export const GENERIC_PATHS: Readonly<Record<string, PathItem>> = {
  '/rest/v1/{table}': tableItem,
  '/rest/v1/rpc/{routine}': routineItem,
};
