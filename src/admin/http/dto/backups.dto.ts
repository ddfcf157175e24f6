/** Query string of a restore. A misspelt `dry_run` must not restore. */
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, NotContains } from 'class-validator';

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
