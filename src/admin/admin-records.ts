/** The admin API's responses, as types and as OpenAPI schemas. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Plan, PLANS } from '../projects/plans';
import { ProjectSettings, effectiveSettings } from '../projects/project-settings';
import { Example } from '../http/docs/example.decorator';
import { INT64, SIZE, UUID_EXAMPLE } from '../http/docs/documented-types';

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const CREATED = '2026-01-01T08:00:00.000Z';
const ANON_KEY = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.c2lnbmF0dXJl';
const SERVICE_ROLE_KEY = 'eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.c2lnbmF0dXJl';
const KEYS = { anon_key: ANON_KEY, service_role_key: SERVICE_ROLE_KEY };
const PROJECT = {
  id: ID,
  slug: 'acme',
  name: 'Acme',
  plan: 'pro',
  server: 'platform',
  paused_at: null,
  settings: effectiveSettings({ max_rows: 1000 }),
  created_at: CREATED,
  updated_at: CREATED,
};

@Example(PROJECT)
export class ProjectRecord {
  @ApiProperty({ example: 'k3v9x0a1b2c3d4e5f6g7' }) readonly id!: string;
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty({ example: 'Acme' }) readonly name!: string;
  @ApiProperty({ enum: PLANS }) readonly plan!: Plan;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'platform',
    description: 'Name of the server that has its database; null for one of its own (`database_url`)',
  })
  readonly server!: string | null;
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when it is paused; null while it serves requests',
  })
  readonly paused_at!: Date | null;
  @ApiProperty({ type: ProjectSettings, description: 'All settings, defaults included' })
  readonly settings!: ProjectSettings;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}

export class ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

@Example({ ...PROJECT, ...KEYS })
export class CreatedProject extends ProjectRecord implements ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

@Example({ ...KEYS, jwt_secret: 'sXo0Zb6dV1yQ8mJtC4rKfWnE7uHpLgA2' })
export class ProjectKeysWithSecret extends ProjectKeys {
  @ApiProperty({ description: 'Signs and verifies the tokens of the project (HS256)' })
  readonly jwt_secret!: string;
}

@Example({ id: ID, deleted: true })
export class DeletedProject {
  @ApiProperty({ description: 'The id of the project' }) readonly id!: string;
  @ApiProperty({ description: 'False while the database is still being dropped' })
  readonly deleted!: boolean;
}

@Example({
  host: 'db.example.com',
  port: 5432,
  database: 'plinth_k3v9x0a1b2c3d4e5f6g7',
  owner_role: 'plinth_k3v9x0a1b2c3d4e5f6g7_owner',
  owner_password: 'q8ZtR2nW5xYb',
  owner_url:
    'postgres://plinth_k3v9x0a1b2c3d4e5f6g7_owner:q8ZtR2nW5xYb@db.example.com:5432/plinth_k3v9x0a1b2c3d4e5f6g7',
  login_role: 'plinth_k3v9x0a1b2c3d4e5f6g7_login',
})
export class DatabaseAccess {
  @ApiProperty() readonly host!: string;
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 65_535 }) readonly port!: number;
  @ApiProperty() readonly database!: string;
  @ApiProperty() readonly owner_role!: string;
  @ApiProperty() readonly owner_password!: string;
  @ApiProperty({ description: 'For psql and migration tools' }) readonly owner_url!: string;
  @ApiProperty({ description: 'The role that requests log in with; grant it the roles that tokens may name' })
  readonly login_role!: string;
}

class SqlStatement {
  @ApiProperty({ type: String, nullable: true, example: 'INSERT' }) readonly command!: string | null;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Rows that were returned or changed' })
  readonly row_count!: number | null;
}

export class SqlResult extends SqlStatement {
  @ApiProperty({
    type: [String],
    description:
      'Names of the columns in their order. One that occurs again gets a number, in the rows as well: `count`, `count_2`.',
  })
  readonly columns!: readonly string[];
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'Rows of the statement, if the request has `all_results`. Those of the last statement are in the `rows` of the response.',
  })
  readonly rows?: readonly Record<string, unknown>[];
  @ApiPropertyOptional({ description: 'The statement returned more rows than the response holds' })
  readonly truncated?: boolean;
}

@Example({
  command: 'SELECT',
  row_count: 1,
  rows: [{ id: 1, title: 'Try Plinth' }],
  truncated: false,
  statements: [{ command: 'SELECT', row_count: 1, columns: ['id', 'title'] }],
  notices: [],
})
export class SqlAnswer extends SqlStatement {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Rows of the last statement',
  })
  readonly rows!: readonly Record<string, unknown>[];
  @ApiProperty({ description: 'The last statement returned more rows than the response holds' })
  readonly truncated!: boolean;
  @ApiProperty({ type: [SqlResult], description: 'Each statement that ran' })
  readonly statements!: readonly SqlResult[];
  @ApiProperty({ type: [String], description: 'Notices and warnings, such as those of RAISE NOTICE' })
  readonly notices!: readonly string[];
}

@Example({
  schema: 'public',
  name: 'notes',
  rls_enabled: true,
  rls_forced: false,
  policies: 2,
  open: false,
  estimated_rows: 1200,
})
export class TableRecord {
  @ApiProperty() readonly schema!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty() readonly rls_enabled!: boolean;
  @ApiProperty({ description: "Row-level security applies to the tables' owner too" })
  readonly rls_forced!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of policies' }) readonly policies!: number;
  @ApiProperty({
    description:
      'Row-level security is off, and anon or authenticated may read or write: accessible with the anon key',
  })
  readonly open!: boolean;
  @ApiProperty({ ...INT64, minimum: -1, description: 'Estimate of the planner; -1 before the first ANALYZE' })
  readonly estimated_rows!: number;
}

class BytesWithoutRow {
  @ApiProperty(SIZE) readonly count!: number;
  @ApiProperty({ ...SIZE, description: 'Bytes' }) readonly size!: number;
  @ApiProperty({ type: [String], description: 'The first thousand' }) readonly object_ids!: readonly string[];
}

class LostFile {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly filename!: string;
}

class RowsWithoutBytes {
  @ApiProperty(SIZE) readonly count!: number;
  @ApiProperty({ type: [LostFile], description: 'The first thousand' }) readonly files!: readonly LostFile[];
}

@Example({
  objects: 1200,
  bytes_without_row: { count: 0, size: 0, object_ids: [] },
  rows_without_bytes: { count: 1, files: [{ id: UUID_EXAMPLE, filename: 'reports/2026.txt' }] },
})
export class StorageCheck {
  @ApiProperty({ ...SIZE, description: 'Objects that were checked' }) readonly objects!: number;
  @ApiProperty({
    description: 'Objects that the sweep will remove: they belong to no file and are older than an hour',
  })
  readonly bytes_without_row!: BytesWithoutRow;
  @ApiProperty({
    description: 'Files whose bytes are missing or incomplete: restore them from a backup',
  })
  readonly rows_without_bytes!: RowsWithoutBytes;
}

@Example({ removed_objects: 2, removed_uploads: 0, rows_without_bytes: 0 })
export class StorageSweepResult {
  @ApiProperty({ ...SIZE, description: 'Objects without a row that were removed' })
  readonly removed_objects!: number;
  @ApiProperty({ ...SIZE, description: 'Leftovers of unfinished uploads that were removed' })
  readonly removed_uploads!: number;
  @ApiProperty({ ...SIZE, description: 'Files whose bytes are missing or incomplete' })
  readonly rows_without_bytes!: number;
}

@Example({
  id: ID,
  slug: 'acme',
  same_id: true,
  dry_run: false,
  backed_up_at: CREATED,
  tables: 12,
  rows: 34000,
  files: 560,
  missing_files: 0,
  skipped_settings: [],
  keys_kept: false,
})
export class RestoreReport {
  @ApiProperty({ description: 'Empty for a dry run that would make a copy' }) readonly id!: string;
  @ApiProperty() readonly slug!: string;
  @ApiProperty({ description: 'False: a copy with an id and keys of its own' }) readonly same_id!: boolean;
  @ApiProperty({ description: 'False: the keys, secrets and the database password are new' })
  readonly keys_kept!: boolean;
  @ApiProperty() readonly dry_run!: boolean;
  @ApiProperty({ format: 'date-time' }) readonly backed_up_at!: string;
  @ApiProperty(SIZE) readonly tables!: number;
  @ApiProperty(SIZE) readonly rows!: number;
  @ApiProperty(SIZE) readonly files!: number;
  @ApiProperty({ ...SIZE, description: 'Files whose bytes were lost before the backup' })
  readonly missing_files!: number;
  @ApiProperty({
    type: [String],
    description: 'Settings of ALTER DATABASE and ALTER ROLE that the owner may not make here, and why',
  })
  readonly skipped_settings!: readonly string[];
}

/** An undeliverable mail of any project. */
@Example({
  project_id: ID,
  project_slug: 'acme',
  id: UUID_EXAMPLE,
  kind: 'reset',
  recipient: 'ada@example.com',
  created_at: CREATED,
  attempts: 8,
  last_error: '550 no such mailbox',
})
export class FailedMailRecord {
  @ApiProperty() readonly project_id!: string;
  @ApiProperty() readonly project_slug!: string;
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly kind!: string;
  @ApiProperty() readonly recipient!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly attempts!: number;
  @ApiProperty({ type: String, nullable: true }) readonly last_error!: string | null;
}

@Example({ id: UUID_EXAMPLE, queued: true })
export class QueuedMail {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: true }) readonly queued!: boolean;
}

class FailedUpgrade {
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty() readonly reason!: string;
}

@Example({ migrated: ['acme'], failed: [] })
export class UpgradeRecord {
  @ApiProperty({ type: [String], description: 'Slugs of the migrated projects' })
  readonly migrated!: readonly string[];
  @ApiProperty({ type: [FailedUpgrade] }) readonly failed!: readonly FailedUpgrade[];
}
