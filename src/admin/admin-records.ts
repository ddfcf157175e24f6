/** The admin API's responses, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Plan, PLANS } from '../projects/plans';
import { ProjectSettings } from '../projects/project-settings';

export class ProjectRecord {
  @ApiProperty({ example: 'k3v9x0a1b2c3d4e5f6g7' }) readonly id!: string;
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty({ example: 'Acme' }) readonly name!: string;
  @ApiProperty({ enum: PLANS }) readonly plan!: Plan;
  @ApiProperty({ type: ProjectSettings, description: 'All settings, defaults included' })
  readonly settings!: ProjectSettings;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}

export class ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

export class CreatedProject extends ProjectRecord implements ProjectKeys {
  @ApiProperty({ description: 'Public; for use in client code' }) readonly anon_key!: string;
  @ApiProperty({ description: 'Secret; bypasses row-level security' }) readonly service_role_key!: string;
}

export class ProjectKeysWithSecret extends ProjectKeys {
  @ApiProperty({ description: 'Signs and verifies the tokens of the project (HS256)' })
  readonly jwt_secret!: string;
}

export class DeletedProject {
  @ApiProperty() readonly id!: string;
  @ApiProperty({ description: 'False while the database is still being dropped' })
  readonly deleted!: boolean;
}

export class DatabaseAccess {
  @ApiProperty() readonly host!: string;
  @ApiProperty() readonly port!: number;
  @ApiProperty() readonly database!: string;
  @ApiProperty() readonly owner_role!: string;
  @ApiProperty() readonly owner_password!: string;
  @ApiProperty({ description: 'For psql and migration tools' }) readonly owner_url!: string;
  @ApiProperty({ description: 'The role that requests log in with; grant it the roles that tokens may name' })
  readonly login_role!: string;
}

export class SqlStatement {
  @ApiProperty({ type: String, nullable: true, example: 'INSERT' }) readonly command!: string | null;
  @ApiProperty({ type: Number, nullable: true }) readonly row_count!: number | null;
}

export class SqlAnswer extends SqlStatement {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Rows of the last statement',
  })
  readonly rows!: readonly Record<string, unknown>[];
  @ApiProperty({ description: 'The last statement returned more rows than the response holds' })
  readonly truncated!: boolean;
  @ApiProperty({ type: [SqlStatement], description: 'Each statement that ran' })
  readonly statements!: readonly SqlStatement[];
  @ApiProperty({ type: [String], description: 'Notices and warnings, such as those of RAISE NOTICE' })
  readonly notices!: readonly string[];
}

export class TableRecord {
  @ApiProperty() readonly schema!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty() readonly rls_enabled!: boolean;
  @ApiProperty({ description: "Row-level security applies to the tables' owner too" })
  readonly rls_forced!: boolean;
  @ApiProperty({ description: 'Number of policies' }) readonly policies!: number;
  @ApiProperty({
    description:
      'Row-level security is off, and anon or authenticated may read or write: accessible to everybody',
  })
  readonly open!: boolean;
  @ApiProperty({ description: 'Estimate of the planner; -1 before the first ANALYZE' })
  readonly estimated_rows!: number;
}

class BytesWithoutRow {
  @ApiProperty() readonly count!: number;
  @ApiProperty({ description: 'Bytes' }) readonly size!: number;
  @ApiProperty({ type: [String], description: 'The first thousand' }) readonly object_ids!: readonly string[];
}

class LostFile {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly filename!: string;
}

class RowsWithoutBytes {
  @ApiProperty() readonly count!: number;
  @ApiProperty({ type: [LostFile], description: 'The first thousand' }) readonly files!: readonly LostFile[];
}

export class StorageCheck {
  @ApiProperty({ description: 'Objects that were checked' }) readonly objects!: number;
  @ApiProperty({
    description:
      'Objects that the sweep will remove: they belong to no file and are older than STORAGE_ORPHAN_AGE',
  })
  readonly bytes_without_row!: BytesWithoutRow;
  @ApiProperty({
    description: 'Files whose bytes are missing or incomplete: restore them from a backup',
  })
  readonly rows_without_bytes!: RowsWithoutBytes;
}

export class StorageSweepResult {
  @ApiProperty({ description: 'Objects without a row that were removed' }) readonly removed_objects!: number;
  @ApiProperty({ description: 'Leftovers of unfinished uploads that were removed' })
  readonly removed_uploads!: number;
  @ApiProperty() readonly rows_without_bytes!: number;
}

export class RestoreReport {
  @ApiProperty({ description: 'Empty for a dry run that would make a copy' }) readonly id!: string;
  @ApiProperty() readonly slug!: string;
  @ApiProperty({ description: 'False: a copy with an id and keys of its own' }) readonly same_id!: boolean;
  @ApiProperty() readonly dry_run!: boolean;
  @ApiProperty({ format: 'date-time' }) readonly backed_up_at!: string;
  @ApiProperty() readonly tables!: number;
  @ApiProperty() readonly rows!: number;
  @ApiProperty() readonly files!: number;
  @ApiProperty({ description: 'Files whose bytes were lost before the backup' })
  readonly missing_files!: number;
}

export class AuditLogEntry {
  @ApiProperty() readonly id!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly at!: Date;
  @ApiProperty({ example: 'platform-admin' }) readonly actor!: string;
  @ApiProperty({ example: 'project.create' }) readonly action!: string;
  @ApiProperty({ type: String, nullable: true }) readonly project_id!: string | null;
  @ApiProperty({ type: String, nullable: true, description: "The client's address" }) readonly address!:
    string | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) readonly details!: Record<string, unknown>;
}

/** An undeliverable mail of any project. */
export class FailedMailRecord {
  @ApiProperty() readonly project_id!: string;
  @ApiProperty() readonly project_slug!: string;
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly kind!: string;
  @ApiProperty() readonly recipient!: string;
  @ApiProperty({ format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty() readonly attempts!: number;
  @ApiProperty({ type: String, nullable: true }) readonly last_error!: string | null;
}

export class QueuedMail {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: true }) readonly queued!: boolean;
}
