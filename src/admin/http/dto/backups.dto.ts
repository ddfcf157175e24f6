/** Query strings of backups and restores. A misspelt `dry_run` must not restore. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, NotContains } from 'class-validator';

export class PhysicalBackupQuery {
  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description:
      'With `false`, the bytes of files are left out. Only those of the provider `disk` are part of it',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  files?: 'true' | 'false';
}

export class RestoreQuery {
  @ApiPropertyOptional({
    description:
      'Another slug. If the archived project exists, a copy with an id and keys of its own is made',
  })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  slug?: string;

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    description: 'Checks the archive and whether it could be restored, and changes nothing',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  dry_run?: 'true' | 'false';
}
