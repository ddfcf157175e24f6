/** Bodies and query strings of the project administration. */
import { IsISO8601, Matches, NotContains } from 'class-validator';
import { PLANS } from '../../plans';
import { ProjectSettingsInput } from '../../project-settings';
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const SETTINGS =
  'Unknown settings are refused; null takes one back to its default. docs/reference/administration.md lists them.';

@Example({ name: 'Acme', plan: 'pro', settings: { max_rows: 1000 } })
export class CreateProjectDto extends model({
  name: f.text({
    max: 200,
    example: 'Acme',
    description: 'Display name; not unique',
    checks: [NotContains('\0'), Matches(/\S/, { message: 'name must not be blank' })],
  }),
  slug: f.optional(
    f.nullable(
      f.text({
        example: 'acme',
        description: 'Default: derived from the name. Null: as the default, or generated if that is taken.',
        pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
      }),
    ),
  ),
  plan: f.optional(f.choice(PLANS, { nullable: true, description: 'Default: free' })),
  settings: f.optional(f.object(ProjectSettingsInput, { nullable: true, description: SETTINGS })),
  database_url: f.optional(
    f.text({
      description:
        'Connection URL, as a role with CREATEDB and CREATEROLE, of another PostgreSQL server for this project',
      example: 'postgres://plinth:secret@db2.example.com/postgres',
      checks: [
        Matches(/^postgres(ql)?:\/\/[^\s]+$/, { message: 'database_url must begin with postgres://' }),
      ],
    }),
  ),
  server: f.optional(
    f.text({
      description:
        'Name of one of the servers of the installation, whatever its status; default: the open one with the largest share of free places',
      example: 'db2',
      checks: [NotContains('\0')],
    }),
  ),
}) {}

@Example({ plan: 'enterprise', settings: { max_rows: 1000, locale: 'de' } })
export class UpdateProjectDto extends model({
  name: f.optional(
    f.nullable(
      f.text({
        max: 200,
        example: 'Acme',
        checks: [NotContains('\0'), Matches(/\S/, { message: 'name must not be blank' })],
      }),
    ),
  ),
  plan: f.optional(f.nullable(f.choice(PLANS, 'Null: unchanged'))),
  settings: f.optional(f.nullable(f.object(ProjectSettingsInput, SETTINGS))),
  unchanged_since: f.optional(
    f.nullable(
      f.text({
        format: 'date-time',
        example: '2026-01-01T08:00:00.000Z',
        description:
          'The updated_at that you read: if the project was changed after that, the answer is 409 and nothing changes',
        checks: [IsISO8601({ strict: true })],
      }),
    ),
  ),
}) {}

const ROTATIONS = ['signing_keys'] as const;

export class RotateKeysDto extends model({
  grace_seconds: f.optional(
    f.whole({
      description:
        'Seconds for which the old keys, and the tokens and storage addresses of old secrets, stay valid; 0 ends them at once; default: 86400',
      minimum: 0,
      maximum: 30 * 86_400,
      example: 86_400,
    }),
  ),
  only: f.optional(
    f.choice(
      ROTATIONS,
      "`signing_keys`: only the key pair that signs users' tokens; the two keys, the secret and the database password stay. Default: all",
    ),
  ),
  end_named_keys: f.optional(
    f.flag('S3 keys and named keys end with the grace period, too, as after a leak; default: false'),
  ),
}) {}

export class ListProjectsQuery extends model({
  limit: f.optional(f.digits(1, 1_000, 'Projects per page; default: 100')),
  offset: f.optional(f.digits(0, undefined, 'Projects to skip; default: 0')),
  slug: f.optional(f.text({ description: 'Exactly this slug', checks: [NotContains('\0')] })),
  search: f.optional(f.text({ description: 'Part of the name or slug', checks: [NotContains('\0')] })),
}) {}
