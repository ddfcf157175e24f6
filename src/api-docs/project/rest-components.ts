/**
 * Components shared by all table REST operations: parameters, headers, the error body (SPEC.md 4.3, 7.3;
 * docs/rest.md).
 */
import {
  type Parameter,
  parameterRef,
  type Reference,
  type Response,
  responseRef,
  type Schema,
} from './openapi';

const DATABASE_ERROR: Schema = {
  type: 'object',
  description: 'Error of the database; null if it reported none',
  required: ['message', 'sqlstate', 'detail', 'hint', 'constraint', 'column'],
  properties: {
    message: { type: 'string' },
    sqlstate: {
      type: 'string',
      description: "SQLSTATE, or a code of the service's own, which begins with PL",
      example: '23505',
    },
    detail: { type: 'string', nullable: true },
    hint: { type: 'string', nullable: true },
    constraint: { type: 'string', nullable: true },
    column: { type: 'string', nullable: true },
  },
};

const REST_ERROR: Schema = {
  type: 'object',
  required: ['detail', 'message', 'code', 'details', 'hint'],
  properties: {
    detail: DATABASE_ERROR,
    message: { type: 'string', description: 'The same as detail.message, for clients of PostgREST' },
    code: { type: 'string', description: 'The code of PostgREST, such as PGRST116; otherwise the SQLSTATE' },
    details: { type: 'string', nullable: true },
    hint: { type: 'string', nullable: true },
  },
};

export const REST_SCHEMAS: Readonly<Record<string, Schema>> = { RestError: REST_ERROR };

const MEANINGS = {
  300: 'Several functions or relationships fit',
  400: 'Malformed query or body, missing filter, or a value that the database refused',
  401: 'Missing or invalid token',
  403: 'Privileges or row-level security do not allow it',
  404: 'Row or resource does not exist',
  405: 'The resource does not support the method',
  406: 'No accepted media type is available, or a single object was requested and the result is not one row',
  409: 'A unique, foreign key or exclusion constraint is violated',
  413: 'The body is too large',
  415: 'The media type of the body is not supported',
  416: 'The range begins after the last row',
  500: 'Server error, or the statement took too long',
  503: 'The database is busy or cannot be reached; Retry-After has the seconds to wait',
} as const;

export type RestErrorStatus = keyof typeof MEANINGS;

const errorName = (status: string | number): string => `rest.${status}`;

export const REST_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  Object.entries(MEANINGS).map(([status, description]) => [
    errorName(status),
    { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/RestError' } } } },
  ]),
);

export function restErrors(...statuses: RestErrorStatus[]): Record<string, Reference> {
  return Object.fromEntries(statuses.map((status) => [status, responseRef(errorName(status))]));
}

const inQuery = (name: string, description: string, schema: Schema, example?: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

const TEXT: Schema = { type: 'string' };
const COUNT: Schema = { type: 'integer', minimum: 0 };

const PARAMETERS = {
  select: inQuery('select', 'Columns, aliases, casts, JSON paths, embedded resources', TEXT, '*'),
  order: inQuery('order', 'Columns with .asc or .desc, .nullsfirst or .nullslast', TEXT),
  limit: inQuery('limit', 'Maximum number of rows', COUNT),
  offset: inQuery('offset', 'Rows to skip', COUNT),
  and: inQuery('and', 'Conditions that must all be true: (a.gt.1,a.lt.5)', TEXT),
  or: inQuery('or', 'Conditions of which one must be true: (a.eq.1,b.is.null)', TEXT),
  columns: inQuery('columns', 'Columns of the body to write', TEXT),
  on_conflict: inQuery('on_conflict', 'Columns of the unique constraint that detects conflicts', TEXT),
  Range: {
    name: 'Range',
    in: 'header',
    description: 'First and last row, an alternative to limit and offset: 0-9',
    schema: TEXT,
  },
  preferRead: {
    name: 'Prefer',
    in: 'header',
    description: 'count=exact, planned or estimated; handling=strict; timezone',
    schema: TEXT,
  },
  preferWrite: {
    name: 'Prefer',
    in: 'header',
    description:
      'return=representation (the default), minimal or headers-only; resolution=merge-duplicates or ignore-duplicates; missing=default; count; tx=rollback; handling=strict; max-affected',
    schema: TEXT,
  },
} satisfies Record<string, Parameter>;

export const REST_PARAMETERS: Readonly<Record<string, Parameter>> = Object.fromEntries(
  Object.entries(PARAMETERS).map(([name, parameter]) => [`rest.${name}`, parameter]),
);

export function restParameters(...names: (keyof typeof PARAMETERS)[]): Reference[] {
  return names.map((name) => parameterRef(`rest.${name}`));
}

export const REST_HEADERS: NonNullable<Response['headers']> = {
  'rest.Content-Range': {
    description: 'First and last row and, if a count was requested, the total: 0-9/42',
    schema: { type: 'string' },
  },
};

/** Headers of a response with rows. */
export const RANGE_HEADERS: NonNullable<Response['headers']> = {
  'Content-Range': { $ref: '#/components/headers/rest.Content-Range' },
};

/** Both headers are needed (SPEC.md 5). */
export const KEY_AND_BEARER = [{ apikey: [], bearer: [] }];
