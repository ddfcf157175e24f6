/** The errors of table REST by status: their meaning, their codes in addition to those of the catalogs, and an example. */

export interface ErrorBody {
  readonly message: string;
  readonly sqlstate: string;
  /** PostgREST's code, where it has one. */
  readonly code?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly constraint?: string;
  readonly details?: readonly object[];
}

export interface RestFailure {
  /** Name of the component of the response and of its body. */
  readonly name: string;
  readonly description: string;
  /**
   * SQLSTATEs in addition to Plinth's own of this status. Null: any, because PostgreSQL has hundreds of them for this status,
   * or because the project's own SQL raises them.
   */
  readonly sqlstates: readonly string[] | null;
  /** PostgREST's codes in addition to those of the catalogs. */
  readonly codes?: readonly string[];
  readonly example: ErrorBody;
  readonly headers?: readonly string[];
}

export const FAILURES = {
  300: {
    name: 'RestAmbiguous',
    description: 'Several relationships or functions match; `details` lists the relationships',
    sqlstates: [],
    example: {
      message: "Could not embed because more than one relationship was found for 'orders' and 'addresses'",
      sqlstate: 'PL201',
      detail:
        'many-to-one: billing using orders(billing_id) and addresses(id); many-to-one: shipping using orders(shipping_id) and addresses(id)',
      hint: "Try changing 'addresses' to one of the following: 'addresses!billing', 'addresses!shipping'. Find the desired relationship in the 'details' key.",
      details: [
        {
          cardinality: 'many-to-one',
          embedding: 'orders with addresses',
          relationship: 'billing using orders(billing_id) and addresses(id)',
        },
        {
          cardinality: 'many-to-one',
          embedding: 'orders with addresses',
          relationship: 'shipping using orders(shipping_id) and addresses(id)',
        },
      ],
    },
  },
  400: {
    name: 'RestBadRequest',
    description: 'The query or body is malformed, a filter is missing, or the database refused a value',
    sqlstates: null,
    example: {
      message: 'null value in column "title" of relation "todos" violates not-null constraint',
      sqlstate: '23502',
    },
  },
  401: {
    name: 'RestUnauthorized',
    description: 'A credential is missing (PGRST302), invalid (PGRST301), or expired (PGRST303)',
    sqlstates: ['PL401'],
    codes: ['PGRST301', 'PGRST302', 'PGRST303', 'PL401'],
    example: { message: 'The apikey header is missing', sqlstate: 'PL401', code: 'PGRST302' },
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'RestForbidden',
    description: 'Privileges or row-level security do not allow it, or a second factor is needed (PL403)',
    sqlstates: ['42501', '0L000', '0LP01', '0P000', '28000', '28P01', 'PL403'],
    example: {
      message: 'new row violates row-level security policy for table "todos"',
      sqlstate: '42501',
    },
  },
  404: {
    name: 'RestNotFound',
    description:
      'The table, function or project does not exist, or a single object was requested and there is none',
    sqlstates: ['42883', '42P01', '3F000', 'PL116', 'PL404'],
    codes: ['PGRST116'],
    example: {
      message: 'Cannot coerce the result to a single JSON object',
      sqlstate: 'PL116',
      detail: 'The result contains 0 rows',
    },
  },
  405: {
    name: 'RestMethodNotAllowed',
    description:
      'The table, view or function does not support the method, or the filters of a PUT are not its key',
    sqlstates: ['25006', 'PL405'],
    example: {
      message: "Filters must include all and only primary key columns with 'eq' operators",
      sqlstate: 'PL105',
    },
    headers: ['Allow'],
  },
  406: {
    name: 'RestNotAcceptable',
    description:
      'No accepted media type is available, or a single object was requested and there are several rows',
    sqlstates: [],
    example: {
      message: 'Cannot coerce the result to a single JSON object',
      sqlstate: 'PL116',
      detail: 'The result contains 2 rows',
    },
  },
  408: {
    name: 'RestRequestTimeout',
    description: 'The body did not arrive in time',
    sqlstates: ['PL408'],
    example: { message: 'The body did not arrive in time', sqlstate: 'PL408' },
  },
  409: {
    name: 'RestConflict',
    description:
      'A unique (23505), foreign key (23503) or exclusion (23P01) constraint is violated; `detail.constraint` is its name',
    sqlstates: ['23503', '23505', '23P01'],
    example: {
      message: 'duplicate key value violates unique constraint "todos_pkey"',
      sqlstate: '23505',
      detail: 'Key (id)=(1) already exists.',
      constraint: 'todos_pkey',
    },
  },
  413: {
    name: 'RestTooLarge',
    description: 'The body is too large, or the database of the project has reached its quota',
    sqlstates: ['PL413'],
    example: { message: 'The body is larger than 1048576 bytes', sqlstate: 'PL413' },
  },
  415: {
    name: 'RestUnsupportedMediaType',
    description: 'The Content-Type of the body is not supported, or the body is compressed',
    sqlstates: ['PL415'],
    example: { message: 'The body must be application/json, text/csv or a form', sqlstate: 'PL157' },
    headers: ['Accept-Encoding'],
  },
  416: {
    name: 'RestRangeNotSatisfiable',
    description: 'The range begins after the last row, or limit is negative',
    sqlstates: [],
    example: {
      message: 'Requested range not satisfiable',
      sqlstate: 'PL103',
      detail: 'An offset of 100 was requested, but there are only 42 rows.',
    },
    headers: ['Content-Range'],
  },
  429: {
    name: 'RestQuotaExceeded',
    description: 'The project has used its requests of the second or of the day',
    sqlstates: ['PL429'],
    example: { message: 'The project has used its 50000 requests of a day', sqlstate: 'PL429' },
    headers: ['Retry-After'],
  },
  500: {
    name: 'RestInternalError',
    description: 'Server error, or the statement took too long (57014)',
    sqlstates: null,
    example: { message: 'canceling statement due to statement timeout', sqlstate: '57014' },
  },
  503: {
    name: 'RestUnavailable',
    description: 'The database is busy or cannot be reached',
    sqlstates: null,
    codes: ['PGRST000', 'PGRST003'],
    example: {
      message: 'The service is busy: no database connection became free in time',
      sqlstate: '53300',
      code: 'PGRST003',
    },
    headers: ['Retry-After'],
  },
} satisfies Record<number, RestFailure>;
