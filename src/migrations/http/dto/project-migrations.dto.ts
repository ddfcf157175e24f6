/** Body of a run of a project's migrations. */
import { Matches, NotContains } from 'class-validator';
import * as f from '../../../http/model/fields';

const CREATE_NOTES = { version: '20261122210000', name: 'create_notes' };

export class AppliedMigrationResponse extends f.model({
  version: f.text({ example: '20261122210000' }),
  name: f.text({ example: 'create_notes' }),
  sha256: f.text('SHA-256 of the SQL, hexadecimal', {
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  }),
  applied_at: f.time(),
}) {}

class MigrationResultResponse extends f.model({
  version: f.text({ example: '20261122210000' }),
  name: f.text({ example: 'create_notes' }),
  milliseconds: f.size(),
  notices: f.texts(),
}) {}

export class MigrationRunResponse extends f.model({
  applied: f.list(MigrationResultResponse, 'With dry_run: versions that would be applied', {
    example: [{ ...CREATE_NOTES, milliseconds: 12, notices: [] }],
  }),
  skipped: f.texts('Versions that were applied before', { example: ['20261101080000'] }),
  untried: f.texts(
    'Versions that were not tried, because a dry run stops before the first migration without a transaction',
    {
      example: [],
    },
  ),
}) {}

class MigrationDto extends f.model({
  version: f.field<string>({ example: '20261122210000', description: 'Up to 18 digits; sets the order' }, [
    Matches(/^\d{1,18}$/, { message: 'version must have 1 to 18 digits' }),
  ]),
  name: f.field<string>({ example: 'create_notes', pattern: '^[\\w-]{1,200}$' }, [
    Matches(/^[\w-]{1,200}$/, {
      message: 'name must have 1 to 200 letters, digits, hyphens and underscores',
    }),
  ]),
  sql: f.text({ example: 'create table notes (id bigint primary key)', checks: [NotContains('\0')] }),
}) {}

export class RunMigrationsDto extends f.model({
  migrations: f.list(MigrationDto, 'In the order of their versions', { maxItems: 1_000 }),
  dry_run: f.optional.flag(
    'Runs the pending migrations in one transaction that is rolled back; default: false',
  ),
  out_of_order: f.optional.flag(
    'Allows a migration whose version is below one that is applied; default: false',
  ),
  timeout_seconds: f.optional.whole('Seconds after which a migration is ended; default: 600', {
    minimum: 1,
    maximum: 3_600,
  }),
  lock_timeout_seconds: f.optional.whole('Seconds to wait for another run of the same project; default: 60', {
    minimum: 1,
    maximum: 3_600,
  }),
}) {}
