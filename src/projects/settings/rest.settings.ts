/** Settings of table REST (DECISIONS.md 5). The statement timeouts hold for storage too. */
import { ArrayNotEmpty, Matches, NotEquals, ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/text/json';
import { choice, flag, integer, list, type Setting, text } from './setting';

const LONGEST_TIMEOUT = 3_600_000;
const MOST_ROLES = 50;

function isTimeoutByRole(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const timeouts = Object.values(value);
  const isTimeout = (each: unknown): boolean =>
    Number.isInteger(each) && Number(each) >= 1 && Number(each) <= LONGEST_TIMEOUT;
  return timeouts.length <= MOST_ROLES && timeouts.every(isTimeout);
}

const roleStatementTimeouts: Setting<Readonly<Record<string, number>>> = {
  fallback: {},
  fallbackText: 'none',
  description: 'Time limit in milliseconds for a statement of a request, by role',
  details:
    '`{"anon": 3000}`: takes precedence over `statement_timeout`, but not over what a function or `ALTER ROLE` sets.',
  schema: {
    type: 'object',
    maxProperties: MOST_ROLES,
    // Without `maximum`: orval makes code of it, inside `additionalProperties`, that does not compile.
    additionalProperties: { type: 'integer', minimum: 1, description: `At most ${LONGEST_TIMEOUT}` },
  },
  checks: [
    ValidateBy({
      name: 'isTimeoutByRole',
      validator: {
        validate: isTimeoutByRole,
        defaultMessage: () =>
          'role_statement_timeouts must give at most 50 roles an integer from 1 to 3600000 each',
      },
    }),
  ],
};

export const REST_SETTINGS = {
  auto_rls: flag({ fallback: true, description: 'Enables row-level security on new tables in `public`' }),

  exposed_schemas: list({
    fallback: ['public'],
    description: 'Schemas of table REST; the first is the default one',
    details: 'Never `auth`.',
    maxItems: 50,
    minItems: 1,
    checks: [
      Matches(/^(?!(auth|pg_.*|information_schema|plinth|plinth_migrations)$)[^\0]{1,63}$/, {
        each: true,
        message: 'exposed_schemas must name schemas other than auth and the system ones',
      }),
      ArrayNotEmpty(),
    ],
  }),

  max_rows: integer({
    fallback: null,
    fallbackText: 'none',
    description: 'Maximum number of rows in a response of table REST',
    minimum: 1,
  }),

  statement_timeout: integer({
    fallback: 30_000,
    description: 'Time limit in milliseconds for a statement of a table REST or storage request',
    minimum: 1,
    maximum: LONGEST_TIMEOUT,
  }),

  role_statement_timeouts: roleStatementTimeouts,

  pre_request: text({
    fallback: null,
    fallbackText: 'none',
    description: 'A function that runs before each table REST request: `schema.name` or `name`',
    maxLength: 127,
  }),

  extra_search_path: list({
    fallback: ['public', 'extensions'],
    description: 'Schemas added to the search path of requests',
    maxItems: 50,
    checks: [NotEquals('auth', { each: true })],
  }),

  read_from: choice({
    fallback: 'primary',
    values: ['primary', 'replica'],
    description:
      'The server of reads that do not say which: the primary, or a replica that is at most a second behind',
  }),

  plan_enabled: flag({
    fallback: false,
    description: 'Serves `application/vnd.pgrst.plan` to requests of the service role',
  }),
};
