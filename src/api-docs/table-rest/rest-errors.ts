/** The error answers of table REST by status, with their codes (docs/reference/rest.md, "Errors"). */
import { missingApiKey } from '../../access/access.errors';
import { AppError } from '../../common/errors/app-error';
import { bodyTooLarge, bodyTooSlow } from '../../http/bodies/body.errors';
import { spentForToday } from '../../limits/quota-limits';
import { GRAMMAR_ERRORS } from '../../rest/grammar/grammar-error';
import { RestErrorRenderer } from '../../rest/http/rest-error.renderer';
import { POSTGREST_CODES } from '../../rest/postgrest-codes';
import { notSingular, outOfRange, REST_ERRORS, restError, statedError } from '../../rest/rest.errors';
import { mapValues } from '../openapi/map-schemas';
import {
  type Header,
  headerRef,
  type Reference,
  type Response,
  responseRef,
  textHeader,
} from '../openapi/model';
import { listOf, type Schema, schemaRef } from '../../visible-schema/json-schema';

interface Failure {
  /** Name of the component of the response and of its body. */
  readonly name: string;
  readonly description: string;
  /** Its body and the names of its headers are documented. */
  readonly example: AppError;
  /**
   * SQLSTATEs in addition to Plinth's own of this status. Absent for any, because PostgreSQL has hundreds of them for this status,
   * or because the project's own SQL raises them.
   */
  readonly sqlstates?: readonly string[];
  /** PostgREST's codes in addition to those of the catalogs. */
  readonly codes?: readonly string[];
}

const candidate = (name: string, column: string): object => ({
  cardinality: 'many-to-one',
  embedding: 'orders with addresses',
  relationship: `${name} using orders(${column}) and addresses(id)`,
});

const FAILURES = {
  300: {
    name: 'RestAmbiguous',
    description: 'Several relationships or functions match; `details` lists the relationships',
    sqlstates: [],
    example: restError('PL201', {
      message: "Could not embed because more than one relationship was found for 'orders' and 'addresses'",
      detail:
        'many-to-one: billing using orders(billing_id) and addresses(id); many-to-one: shipping using orders(shipping_id) and addresses(id)',
      hint: "Try changing 'addresses' to one of the following: 'addresses!billing', 'addresses!shipping'. Find the desired relationship in the 'details' key.",
      extra: { details: [candidate('billing', 'billing_id'), candidate('shipping', 'shipping_id')] },
    }),
  },
  400: {
    name: 'RestBadRequest',
    description: 'The query or body is malformed, a filter is missing, or the database refused a value',
    example: new AppError(
      400,
      '23502',
      'null value in column "title" of relation "todos" violates not-null constraint',
      { database: { column: 'title' } },
    ),
  },
  401: {
    name: 'RestUnauthorized',
    description: 'A credential is missing (PGRST302), invalid (PGRST301), or expired (PGRST303)',
    sqlstates: ['PL401'],
    codes: ['PGRST301', 'PGRST302', 'PGRST303', 'PL401'],
    example: missingApiKey(),
  },
  403: {
    name: 'RestForbidden',
    description: 'Privileges or row-level security do not allow it, or a second factor is needed (PL403)',
    sqlstates: ['42501', '0L000', '0LP01', '0P000', '28000', '28P01', 'PL403'],
    example: statedError('42501', 403, {
      message: 'new row violates row-level security policy for table "todos"',
    }),
  },
  404: {
    name: 'RestNotFound',
    description:
      'The table, function or project does not exist, or a single object was requested and there is none',
    sqlstates: ['42883', '42P01', '3F000', 'PL116', 'PL404'],
    codes: ['PGRST116'],
    example: notSingular(0),
  },
  405: {
    name: 'RestMethodNotAllowed',
    description:
      'The table, view or function does not support the method, or the filters of a PUT are not its key',
    sqlstates: ['25006', 'PL405'],
    example: restError('PL105', {
      message: "Filters must include all and only primary key columns with 'eq' operators",
      headers: { Allow: 'OPTIONS, GET, HEAD' },
    }),
  },
  406: {
    name: 'RestNotAcceptable',
    description:
      'No accepted media type is available, or a single object was requested and there are several rows',
    sqlstates: [],
    example: notSingular(2),
  },
  408: {
    name: 'RestRequestTimeout',
    description: 'The body did not arrive in time',
    sqlstates: ['PL408'],
    example: bodyTooSlow(),
  },
  409: {
    name: 'RestConflict',
    description:
      'A unique (23505), foreign key (23503) or exclusion (23P01) constraint is violated; `detail.constraint` is its name',
    sqlstates: ['23503', '23505', '23P01'],
    example: new AppError(409, '23505', 'duplicate key value violates unique constraint "todos_pkey"', {
      database: { detail: 'Key (id)=(1) already exists.', constraint: 'todos_pkey' },
    }),
  },
  413: {
    name: 'RestTooLarge',
    description: 'The body is too large, or the database of the project has reached its quota',
    sqlstates: ['PL413'],
    example: bodyTooLarge(1_048_576),
  },
  415: {
    name: 'RestUnsupportedMediaType',
    description: 'The Content-Type of the body is not supported, or the body is compressed',
    sqlstates: ['PL415'],
    example: restError('PL157', {
      message: 'The body must be application/json, text/csv or a form',
      headers: { 'Accept-Encoding': 'identity' },
    }),
  },
  416: {
    name: 'RestRangeNotSatisfiable',
    description: 'The range begins after the last row, or limit is negative',
    sqlstates: [],
    example: outOfRange(100, 42),
  },
  429: {
    name: 'RestQuotaExceeded',
    description: 'The project has used its requests of the second or of the day',
    sqlstates: ['PL429'],
    example: spentForToday('requests', 50_000, 1_000),
  },
  500: {
    name: 'RestInternalError',
    description: 'Server error, or the statement took too long (57014)',
    example: statedError('57014', 500, { message: 'canceling statement due to statement timeout' }),
  },
  503: {
    name: 'RestUnavailable',
    description: 'The database is busy or cannot be reached',
    codes: ['PGRST000', 'PGRST003'],
    example: statedError('53300', 503, {
      message: 'The service is busy: no database connection became free in time',
      headers: { 'Retry-After': '1' },
    }),
  },
} satisfies Record<number, Failure>;

export type RestErrorStatus = keyof typeof FAILURES;

const ALL: readonly Failure[] = Object.values(FAILURES);
const RENDERER = new RestErrorRenderer();

/** Codes of both catalogs. */
const CATALOG = Object.entries({ ...GRAMMAR_ERRORS, ...REST_ERRORS });
const POSTGREST: Readonly<Partial<Record<string, string | null>>> = POSTGREST_CODES;

const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };

const closed = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

const texts = (...names: string[]): Record<string, Schema> =>
  Object.fromEntries(names.map((name) => [name, { type: 'string' }]));

const codeSchema = (description: string, codes: readonly string[] | undefined): Schema => ({
  type: 'string',
  description,
  ...(codes && { enum: [...new Set(codes)].sort() }),
});

/** The list of codes is closed, except for statuses where a project's own SQL may raise codes with `PGRST`. */
function errorSchema({ sqlstates, codes = [], description, example: { status } }: Failure): Schema {
  const own = CATALOG.filter(([, entry]) => entry.status === status).map(([code]) => code);
  // RAISE with PTxyz answers with the status xyz.
  const all = sqlstates && [...own, ...sqlstates, `PT${status}`];
  const constraint = { ...TEXT_OR_NULL, description: 'Name of the violated constraint' };
  return {
    ...closed({
      detail: closed({
        ...texts('message'),
        sqlstate: codeSchema('SQLSTATE of PostgreSQL, or a code of Plinth, which begins with PL', all),
        detail: TEXT_OR_NULL,
        hint: TEXT_OR_NULL,
        constraint: status === 409 ? constraint : TEXT_OR_NULL,
        column: TEXT_OR_NULL,
      }),
      message: { type: 'string', description: 'The same as detail.message' },
      code: codeSchema(
        "PostgREST's code, such as PGRST116, or detail.sqlstate where PostgREST has none",
        all && [...codes, ...all.map((code) => POSTGREST[code] ?? code)],
      ),
      details: status === 300 ? CANDIDATES : TEXT_OR_NULL,
      hint: TEXT_OR_NULL,
    }),
    description,
  };
}

const CANDIDATES: Schema = {
  description: 'The matching relationships; for functions, a string or null',
  anyOf: [
    listOf(closed(texts('cardinality', 'embedding', 'relationship'))),
    { type: 'string' },
    { type: 'null' },
  ],
};

export const ERROR_SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  ALL.map((failure) => [`${failure.name}Error`, errorSchema(failure)]),
);

/** The header that every error has. */
const PROXY_STATUS = 'Proxy-Status';

const HEADERS: Readonly<Record<string, Header>> = {
  [PROXY_STATUS]: textHeader(
    'Plinth and the error code (RFC 9209); without the code if a header cannot contain it',
    'Plinth; error=PGRST116',
  ),
  'WWW-Authenticate': textHeader('The expected scheme', 'Bearer'),
  Allow: textHeader('The methods that are supported', 'OPTIONS, GET, HEAD'),
  'Accept-Encoding': textHeader('The accepted encodings; present when the body was encoded', 'identity'),
  'Retry-After': {
    description: 'Seconds after which a retry may succeed',
    schema: { type: 'integer', minimum: 0 },
    example: 1,
  },
};

/** `Content-Range` to `ContentRange`. */
function componentName(header: string): string {
  return header.replaceAll('-', '');
}

/** Components of headers, by their names. */
export const headerComponents = (headers: Readonly<Record<string, Header>>): Record<string, Header> =>
  Object.fromEntries(Object.entries(headers).map(([name, header]) => [componentName(name), header]));

export const headerRefs = (names: readonly string[]): Record<string, Reference> =>
  Object.fromEntries(names.map((name) => [name, headerRef(componentName(name))]));

export const ERROR_HEADERS = headerComponents(HEADERS);

export const ERROR_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  ALL.map(({ name, description, example }) => [
    name,
    {
      description,
      headers: headerRefs([...Object.keys(example.headers), PROXY_STATUS]),
      content: {
        'application/json': { schema: schemaRef(`${name}Error`), example: RENDERER.render(example) },
      },
    },
  ]),
);

const REFERENCES = mapValues<Failure, Reference>(FAILURES, ({ name }) => responseRef(name));

export function restErrors(...statuses: RestErrorStatus[]): Record<string, Reference> {
  return Object.fromEntries(statuses.map((status) => [status, REFERENCES[status] as Reference]));
}
