/** OpenAPI documentation of the errors of a project's migrations: those of SQL, with the migration that failed. */
import { ErrorDocs, type ErrorList } from '../../http/docs/error-docs';
import { platformErrorBody, platformErrorSchema } from '../../http/errors/platform-error-docs';
import { migrationChanged, migrationOutOfOrder, migrationsLocked } from '../migration.errors';
import {
  SERVER_FAILURE,
  SQL_ERROR_CODE,
  SQL_ERROR_FIELDS,
  SQL_FAILURES,
} from '../../sql/http/sql-error-docs';
import { errorsIn } from '../../http/docs/operation.decorators';

const DOCS = new ErrorDocs({
  name: 'MigrationError',
  bodyOf: platformErrorBody,
  codeOf: ({ code }) => code,
  schemaOf: (status) =>
    platformErrorSchema(status, SQL_ERROR_CODE, {
      properties: {
        migration: {
          type: 'object',
          additionalProperties: false,
          required: ['version', 'name'],
          properties: { version: { type: 'string' }, name: { type: 'string' } },
          description: 'The migration that failed',
        },
        database: {
          type: 'object',
          additionalProperties: false,
          required: ['location'],
          properties: SQL_ERROR_FIELDS,
          description: "PostgreSQL's fields where SQL failed; for a refused command only its location",
        },
      },
    }),
});

export const MigrationErrors = (...errors: ErrorList): MethodDecorator => errorsIn(DOCS, errors);

const CREATE_NOTES = { version: '20261122210000', name: 'create_notes' };

export const MIGRATION_FAILURES: ErrorList = [
  SQL_FAILURES,
  SERVER_FAILURE,
  migrationChanged(CREATE_NOTES),
  migrationOutOfOrder(CREATE_NOTES, '20261123080000'),
  migrationsLocked(60, null),
];
