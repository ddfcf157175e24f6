/** The error answers of table REST by status, with their codes (docs/reference/rest.md, "Errors"). */
import {
  type Header,
  headerRef,
  listOf,
  type Reference,
  type Response,
  responseRef,
  type Schema,
  schemaRef,
  textHeader,
} from '../openapi/model';
import { GRAMMAR_ERRORS } from '../../rest/grammar/grammar-error';
import { POSTGREST_CODES } from '../../rest/postgrest-codes';
import { REST_ERRORS } from '../../rest/rest.errors';
import { type ErrorBody, FAILURES, type RestFailure } from './rest-failures';

export type RestErrorStatus = keyof typeof FAILURES;

const ENTRIES = Object.entries(FAILURES).map(([status, failure]): [status: number, RestFailure] => [
  Number(status),
  failure,
]);

/** Codes of both catalogs. */
const CATALOG = Object.entries({ ...GRAMMAR_ERRORS, ...REST_ERRORS });
const POSTGREST: Readonly<Partial<Record<string, string | null>>> = POSTGREST_CODES;

const ANY_SQLSTATE: Schema = {
  type: 'string',
  description: 'SQLSTATE of PostgreSQL, or a code of Plinth, which begins with PL',
};
const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };

const closed = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
});

/** The list of codes is closed, except for statuses where a project's own SQL may raise codes with `PGRST`. */
function errorSchema(status: number, failure: RestFailure): Schema {
  const { sqlstates, codes = [] } = failure;
  const own = CATALOG.filter(([, entry]) => entry.status === status).map(([code]) => code);
  // RAISE with PTxyz answers with the status xyz.
  const all = sqlstates && [...new Set([...own, ...sqlstates, `PT${status}`])].sort();
  const postgrest = all && [...new Set([...codes, ...all.map((code) => POSTGREST[code] ?? code)])].sort();
  const constraint = { ...TEXT_OR_NULL, description: 'Name of the violated constraint' };
  return {
    ...closed({
      detail: closed({
        message: { type: 'string' },
        sqlstate: all ? { type: 'string', enum: all } : ANY_SQLSTATE,
        detail: TEXT_OR_NULL,
        hint: TEXT_OR_NULL,
        constraint: status === 409 ? constraint : TEXT_OR_NULL,
        column: TEXT_OR_NULL,
      }),
      message: { type: 'string', description: 'The same as detail.message' },
      code: { type: 'string', ...(postgrest ? { enum: postgrest } : {}), description: CODE },
      details: status === 300 ? CANDIDATES : TEXT_OR_NULL,
      hint: TEXT_OR_NULL,
    }),
    description: failure.description,
  };
}

const CODE = "PostgREST's code, such as PGRST116, or detail.sqlstate where PostgREST has none";

const CANDIDATE = closed({
  cardinality: { type: 'string' },
  embedding: { type: 'string' },
  relationship: { type: 'string' },
});
const CANDIDATES: Schema = {
  description: 'The matching relationships; for functions, a string or null',
  anyOf: [listOf(CANDIDATE), { type: 'string' }, { type: 'null' }],
};

function exampleOf({ message, sqlstate, code, detail, hint, constraint, details }: ErrorBody): object {
  return {
    detail: {
      message,
      sqlstate,
      detail: detail ?? null,
      hint: hint ?? null,
      constraint: constraint ?? null,
      column: sqlstate === '23502' ? 'title' : null,
    },
    message,
    code: code ?? POSTGREST[sqlstate] ?? sqlstate,
    details: details ?? detail ?? null,
    hint: hint ?? null,
  };
}

/** Headers of every error. */
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

export const ERROR_SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  ENTRIES.map(([status, failure]) => [`${failure.name}Error`, errorSchema(status, failure)]),
);

export const ERROR_HEADERS: Readonly<Record<string, Header>> = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [componentName(name), header]),
);

export const ERROR_RESPONSES: Readonly<Record<string, Response>> = Object.fromEntries(
  ENTRIES.map(([, failure]) => [
    failure.name,
    {
      description: failure.description,
      headers: Object.fromEntries(
        [...(failure.headers ?? []), PROXY_STATUS].map((one) => [one, headerRef(componentName(one))]),
      ),
      content: {
        'application/json': {
          schema: schemaRef(`${failure.name}Error`),
          example: exampleOf(failure.example),
        },
      },
    },
  ]),
);

/** `Content-Range` to `ContentRange`. */
export function componentName(header: string): string {
  return header.replaceAll('-', '');
}

const REFERENCES = Object.fromEntries(
  ENTRIES.map(([status, { name }]) => [status, responseRef(name)]),
) as Readonly<Record<RestErrorStatus, Reference>>;

export function restErrors(...statuses: RestErrorStatus[]): Record<string, Reference> {
  const responses: Record<string, Reference> = {};
  for (const status of statuses) responses[status] = REFERENCES[status];
  return responses;
}
