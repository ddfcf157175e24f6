/** OpenAPI documentation of the errors of SQL that an administrator runs: they hold the fields of PostgreSQL's error. */
import { DatabaseError } from 'pg';
import { ErrorDocs, type ErrorList } from '../../http/docs/error-docs';
import type { SchemaObject } from '../../http/docs/documented-types';
import { platformErrorBody, platformErrorSchema } from '../../http/errors/platform-error-docs';
import {
  sqlFailed,
  sqlTookTooLong,
  tooManyColumns,
  tooManyStatements,
  transactionLeftOpen,
} from '../sql.errors';
import { MAX_COLUMNS } from '../result-collector';
import { MAX_STATEMENTS } from '../max-statements';
import { errorsIn } from '../../http/docs/operation.decorators';

const TEXT_OR_NULL: SchemaObject = { type: 'string', nullable: true };
const FROM_ONE: SchemaObject = { type: 'integer', minimum: 1 };

export const SQL_ERROR_FIELDS: Record<string, SchemaObject> = {
  sqlstate: { type: 'string', pattern: '^[0-9A-Z]{5}$' },
  detail: TEXT_OR_NULL,
  hint: TEXT_OR_NULL,
  constraint: TEXT_OR_NULL,
  column: TEXT_OR_NULL,
  table: TEXT_OR_NULL,
  schema: TEXT_OR_NULL,
  position: { ...FROM_ONE, nullable: true, description: 'Character of the query, from 1' },
  location: {
    type: 'object',
    nullable: true,
    additionalProperties: false,
    required: ['line', 'column'],
    properties: { line: FROM_ONE, column: { ...FROM_ONE, description: 'Character of the line' } },
    description: 'The same as line and column',
  },
  where: TEXT_OR_NULL,
};

export const SQL_ERROR_CODE: SchemaObject = {
  type: 'string',
  pattern: '^([a-z_]+|[0-9A-Z]{5})$',
  description: 'The SQLSTATE where SQL failed; else a code such as `invalid_parameters`',
};

const DOCS = new ErrorDocs({
  name: 'SqlError',
  bodyOf: platformErrorBody,
  codeOf: ({ code }) => code,
  schemaOf: (status) =>
    platformErrorSchema(status, SQL_ERROR_CODE, {
      properties: {
        database: {
          type: 'object',
          additionalProperties: false,
          required: Object.keys(SQL_ERROR_FIELDS),
          properties: SQL_ERROR_FIELDS,
          description: "PostgreSQL's fields; only where SQL failed",
        },
      },
    }),
});

export const SqlErrors = (...errors: ErrorList): MethodDecorator => errorsIn(DOCS, errors);

const QUERY = 'select title\nfrom notse';

/** Examples of failing SQL. */
export const SQL_FAILURES: ErrorList = [
  sqlFailed(errorOf('42P01', 'relation "notse" does not exist', QUERY.indexOf('notse') + 1), QUERY),
  sqlTookTooLong(60, null),
  transactionLeftOpen(),
  tooManyStatements(MAX_STATEMENTS),
  tooManyColumns(MAX_COLUMNS),
];
export const SERVER_FAILURE = sqlFailed(
  errorOf('57P01', 'terminating connection due to administrator command'),
  QUERY,
);

/** @param position of the character in the query, counted from 1 */
function errorOf(code: string, message: string, position?: number): DatabaseError {
  const error = new DatabaseError(message, message.length, 'error');
  return Object.assign(error, { code, ...(position ? { position: String(position) } : {}) });
}
