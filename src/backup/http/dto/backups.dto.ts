/** Bodies and query strings of backups. A misspelt `dry_run` must not restore. */
import {
  IsBoolean,
  IsDateString,
  IsIn,
  IsInt,
  IsString,
  Max,
  MaxLength,
  Min,
  NotContains,
} from 'class-validator';
import { type Compression, COMPRESSIONS } from '../../../config/compression';
import { Example } from '../../../http/docs/example.decorator';
import { WholeNumber } from '../../../http/input/whole-number';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const MAX_KEEP = 10_000;
const MAX_REHEARSE_DAYS = 366;

/** How the archive in the response is compressed. */
export class BackupQuery {
  @OptionalProperty({
    enum: COMPRESSIONS,
    description: '`zstd` is faster than gzip, the default; it needs Node.js 22.15 or later on the server',
  })
  @IsIn([...COMPRESSIONS])
  compression?: Compression;
}

export class PhysicalBackupQuery extends BackupQuery {
  @OptionalProperty({
    enum: ['true', 'false'],
    description: '`false` leaves out the bytes of files. Only files of the provider `disk` are included',
  })
  @IsIn(['true', 'false'])
  files?: 'true' | 'false';
}

export class InstallRestoreQuery {
  @OptionalProperty({
    enum: ['true', 'false'],
    description: 'Only checks the archive and whether it could be restored',
  })
  @IsIn(['true', 'false'])
  dry_run?: 'true' | 'false';

  @OptionalProperty({
    enum: ['true', 'false'],
    description:
      'Whether the keys, secrets, sessions and the database password of the archive are kept, which everybody knows who could read it. Default: `false` for a project, `true` for an install',
  })
  @IsIn(['true', 'false'])
  keep_keys?: 'true' | 'false';
}

export class RestoreQuery extends InstallRestoreQuery {
  @OptionalProperty({
    description:
      'Slug of the restored project. If the archived project exists, the copy gets its own id and keys',
  })
  @IsString()
  @NotContains('\0')
  slug?: string;
}

/** Names a project; without it the install is meant. */
export class BackupSubjectQuery {
  @OptionalProperty({ description: 'Id of a project; default: the install' })
  @IsString()
  @NotContains('\0')
  project_id?: string;
}

@Example({ hour: 3, time_zone: 'Europe/Berlin', keep: 14, rehearse_days: 7 })
export class BackupScheduleDto {
  @OptionalProperty({
    type: 'integer',
    minimum: 0,
    maximum: 23,
    description: 'Daily at this hour; default: 3. Not together with `cron`',
  })
  @IsInt()
  @Min(0)
  @Max(23)
  hour?: number;

  @OptionalProperty({ example: '30 3 * * 1-5', description: 'Five fields, as in crontab' })
  @IsString()
  @MaxLength(200)
  cron?: string;

  @OptionalProperty({ example: 'Europe/Berlin', description: 'Default: UTC' })
  @IsString()
  @MaxLength(100)
  time_zone?: string;

  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_KEEP,
    description: 'Archives to keep; default: 7',
  })
  @IsInt()
  @Min(1)
  @Max(MAX_KEEP)
  keep?: number;

  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_REHEARSE_DAYS,
    description: 'Days between two rehearsals of a restore; default: none are made',
  })
  @IsInt()
  @Min(1)
  @Max(MAX_REHEARSE_DAYS)
  rehearse_days?: number;

  @OptionalProperty({ description: 'False: the project is not backed up by schedule; default: true' })
  @IsBoolean()
  enabled?: boolean;
}

@Example({ project_id: 'k3v9x0a1b2c3d4e5f6g7' })
export class BackupRequestDto {
  @OptionalProperty({ description: 'Id of a project; default: all of them, and the platform' })
  @IsString()
  @NotContains('\0')
  project_id?: string;
}

export class ListRunsQuery extends BackupSubjectQuery {
  @OptionalProperty({ description: 'Runs per page; default: 100' })
  @WholeNumber(1, 1_000)
  limit?: number;

  @OptionalProperty({ format: 'date-time', description: 'Only runs that started before this time' })
  @IsDateString()
  before?: string;
}
