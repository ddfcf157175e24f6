/** Bodies and query strings of the project administration. */
import { IsISO8601, Matches, NotContains } from 'class-validator';
import { PLANS } from '../../plans';
import { ProjectSettingsInput } from '../../project-settings';
import * as f from '../../../http/model/fields';

const SETTINGS =
  'Unknown settings are refused; null takes one back to its default. docs/reference/administration.md lists them.';

@f.Example({ name: 'Acme', plan: 'pro', settings: { max_rows: 1000 } })
export class CreateProjectDto extends f.model({
  name: f.text('Display name; not unique', {
    max: 200,
    example: 'Acme',
    checks: [NotContains('\0'), Matches(/\S/, { message: 'name must not be blank' })],
  }),
  slug: f.optional(
    f.nullable.text('Default: derived from the name. Null: as the default, or generated if that is taken.', {
      example: 'acme',
      pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
    }),
  ),
  plan: f.optional.choice(PLANS, 'Default: free', { nullable: true }),
  settings: f.optional.object(ProjectSettingsInput, SETTINGS, { nullable: true }),
  database_url: f.optional.text(
    'Connection URL, as a role with CREATEDB and CREATEROLE, of another PostgreSQL server for this project',
    {
      example: 'postgres://plinth:secret@db2.example.com/postgres',
      checks: [
        Matches(/^postgres(ql)?:\/\/[^\s]+$/, { message: 'database_url must begin with postgres://' }),
      ],
    },
  ),
  server: f.optional.text(
    'Name of one of the servers of the installation, whatever its status; default: the open one with the largest share of free places',
    { example: 'db2', checks: [NotContains('\0')] },
  ),
}) {}

@f.Example({ plan: 'enterprise', settings: { max_rows: 1000, locale: 'de' } })
export class UpdateProjectDto extends f.model({
  name: f.optional(
    f.nullable.text({
      max: 200,
      example: 'Acme',
      checks: [NotContains('\0'), Matches(/\S/, { message: 'name must not be blank' })],
    }),
  ),
  plan: f.optional(f.nullable.choice(PLANS, 'Null: unchanged')),
  settings: f.optional(f.nullable.object(ProjectSettingsInput, SETTINGS)),
  unchanged_since: f.optional(
    f.nullable.text(
      'The updated_at that you read: if the project was changed after that, the answer is 409 and nothing changes',
      { format: 'date-time', example: '2026-01-01T08:00:00.000Z', checks: [IsISO8601({ strict: true })] },
    ),
  ),
}) {}

const ROTATIONS = ['signing_keys'] as const;

export class RotateKeysDto extends f.model({
  grace_seconds: f.optional.whole(
    'Seconds for which the old keys, and the tokens and storage addresses of old secrets, stay valid; 0 ends them at once; default: 86400',
    { minimum: 0, maximum: 30 * 86_400, example: 86_400 },
  ),
  only: f.optional.choice(
    ROTATIONS,
    "`signing_keys`: only the key pair that signs users' tokens is rotated; the anon key, the service-role key, the secret and the database password do not change. Default: everything is rotated",
  ),
  end_named_keys: f.optional.flag(
    'S3 keys and named keys end with the grace period, too, as after a leak; default: false',
  ),
}) {}

export class ListProjectsQuery extends f.model({
  limit: f.optional.digits(1, 1_000, 'Projects per page; default: 100'),
  offset: f.optional.digits(0, undefined, 'Projects to skip; default: 0'),
  slug: f.optional.text('Exactly this slug', { checks: [NotContains('\0')] }),
  search: f.optional.text('Part of the name or slug', { checks: [NotContains('\0')] }),
}) {}
