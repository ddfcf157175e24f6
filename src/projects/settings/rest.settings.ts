/** Settings of table REST. The statement timeouts also apply to storage. */
import { ArrayNotEmpty, Matches, NotEquals, ValidateBy } from 'class-validator';
import { isJsonObject } from '../../common/text/json';
import { choice, flag, integer, list, type Setting, text } from './setting';

const MAX_TIMEOUT = 3_600_000;
const MAX_ROLES = 50;

function isTimeoutByRole(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const timeouts = Object.values(value);
  const isTimeout = (each: unknown): boolean =>
    Number.isInteger(each) && Number(each) >= 1 && Number(each) <= MAX_TIMEOUT;
  return timeouts.length <= MAX_ROLES && timeouts.every(isTimeout);
}

const roleStatementTimeouts: Setting<Readonly<Record<string, number>>> = {
  fallback: {},
  fallbackText: 'none',
  description: 'Time limit in milliseconds for a statement of a request, by role',
  details:
    '`{"anon": 3000}`: takes precedence over `statement_timeout`, but not over what a function, or `ALTER ROLE` for a role of the project itself, sets.',
  schema: {
    type: 'object',
    maxProperties: MAX_ROLES,
    // Without `maximum`: orval generates code from it, inside `additionalProperties`, that does not compile.
    additionalProperties: { type: 'integer', minimum: 1, description: `At most ${MAX_TIMEOUT}` },
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

/** Settings that every role may set, and on which Plinth itself does not depend. */
const ROLE_SETTINGS = [
  'datestyle',
  'default_text_search_config',
  'default_transaction_isolation',
  'effective_cache_size',
  'from_collapse_limit',
  'hash_mem_multiplier',
  'intervalstyle',
  'jit',
  'join_collapse_limit',
  'lc_monetary',
  'lc_numeric',
  'lc_time',
  'lock_timeout',
  'max_parallel_workers_per_gather',
  'plan_cache_mode',
  'random_page_cost',
  'timezone',
  'work_mem',
] as const;
const MAX_VALUE_LENGTH = 100;

function isSettingsByRole(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const isSetting = ([name, each]: [string, unknown]): boolean =>
    (ROLE_SETTINGS as readonly string[]).includes(name) &&
    typeof each === 'string' &&
    each.length <= MAX_VALUE_LENGTH &&
    !each.includes('\0');
  const ofRoles = Object.values(value);
  return (
    ofRoles.length <= MAX_ROLES &&
    ofRoles.every((one) => isJsonObject(one) && Object.entries(one).every(isSetting))
  );
}

const roleSettings: Setting<Readonly<Record<string, Readonly<Record<string, string>>>>> = {
  fallback: {},
  fallbackText: 'none',
  description: 'Settings of PostgreSQL for requests to table REST, by role',
  details: `\`{"anon": {"work_mem": "8MB"}}\`: in place of \`ALTER ROLE\`, which is not read for the roles that all projects share. Names: ${ROLE_SETTINGS.map((name) => `\`${name}\``).join(', ')}. Requests fail while PostgreSQL refuses a value.`,
  schema: {
    type: 'object',
    maxProperties: MAX_ROLES,
    additionalProperties: {
      type: 'object',
      additionalProperties: { type: 'string', description: `At most ${MAX_VALUE_LENGTH} characters` },
    },
  },
  checks: [
    ValidateBy({
      name: 'isSettingsByRole',
      validator: {
        validate: isSettingsByRole,
        defaultMessage: () =>
          `role_settings must give at most ${MAX_ROLES} roles an object of texts of at most ${MAX_VALUE_LENGTH} characters; names: ${ROLE_SETTINGS.join(', ')}`,
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
    maximum: MAX_TIMEOUT,
  }),

  role_statement_timeouts: roleStatementTimeouts,

  role_settings: roleSettings,

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
