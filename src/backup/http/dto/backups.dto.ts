/** Bodies and query strings of backups. A misspelt `dry_run` must not restore. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsBoolean,
  IsDateString,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  MaxLength,
  Min,
  NotContains,
} from 'class-validator';
import { type Compression, COMPRESSIONS } from '../../../config/compression';
import { Example } from '../../../http/docs/example.decorator';
import { WholeNumber } from '../../../http/input/whole-number';

const MAX_KEEP = 10_000;

/** How the archive in the response is compressed. */
export class BackupQuery {
  @ApiPropertyOptional({
    enum: COMPRESSIONS,
    description: '`zstd` is faster than gzip, the default; it needs Node.js 22.15 or later on the server',
  })
  @IsOptional()
  @IsIn([...COMPRESSIONS])
  compression?: Compression;
}

export class PhysicalBackupQuery extends BackupQuery {
  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description: '`false` leaves out the bytes of files. Only files of the provider `disk` are included',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  files?: 'true' | 'false';
}

export class InstallRestoreQuery {
  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description: 'Only checks the archive and whether it could be restored',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  dry_run?: 'true' | 'false';

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description:
      'Whether the keys, secrets, sessions and the database password of the archive are kept, which everybody knows who could read it. Default: `false` for a project, `true` for an install',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  keep_keys?: 'true' | 'false';
}

export class RestoreQuery extends InstallRestoreQuery {
  @ApiPropertyOptional({
    description:
      'Slug of the restored project. If the archived project exists, the copy gets its own id and keys',
  })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  slug?: string;
}

/** Names a project; without it the install is meant. */
export class BackupSubjectQuery {
  @ApiPropertyOptional({ description: 'Id of a project; default: the install' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  project_id?: string;
}

@Example({ hour: 3, time_zone: 'Europe/Berlin', keep: 14 })
export class ScheduleDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: 23,
    description: 'Daily at this hour; default: 3. Not together with `cron`',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(23)
  hour?: number;

  @ApiPropertyOptional({ example: '30 3 * * 1-5', description: 'Five fields, as in crontab' })
  @IsOptional()
  @IsString()
  @MaxLength(200)
  cron?: string;

  @ApiPropertyOptional({ example: 'Europe/Berlin', description: 'Default: UTC' })
  @IsOptional()
  @IsString()
  @MaxLength(100)
  time_zone?: string;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_KEEP,
    description: 'Archives to keep; default: 7',
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MAX_KEEP)
  keep?: number;

  @ApiPropertyOptional({ description: 'False: the project is not backed up by schedule; default: true' })
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;
}

@Example({ project_id: 'k3v9x0a1b2c3d4e5f6g7' })
export class BackupRequestDto {
  @ApiPropertyOptional({ description: 'Id of a project; default: all of them, and the platform' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  project_id?: string;
}

export class ListRunsQuery extends BackupSubjectQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1_000,
    description: 'Runs per page; default: 100',
  })
  @IsOptional()
  @WholeNumber(1, 1_000)
  limit?: number;

  @ApiPropertyOptional({ format: 'date-time', description: 'Only runs that started before this time' })
  @IsOptional()
  @IsDateString()
  before?: string;
}
