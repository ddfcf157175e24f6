/** Bodies and query strings of the project administration. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  NotContains,
  ValidateNested,
} from 'class-validator';
import { WholeNumber } from '../../../http/input/whole-number';
import { Plan, PLANS } from '../../plans';
import { ProjectSettingsInput } from '../../project-settings';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE } from '../../../http/docs/documented-types';

const SETTINGS =
  'Unknown settings are refused; null takes one back to its default. docs/administration.md lists them.';

@Example({ name: 'Acme', plan: 'pro', settings: { max_rows: 1000 } })
export class CreateProjectDto {
  @ApiProperty({ example: 'Acme', maxLength: 200, description: 'Display name; not unique' })
  @IsString()
  @Matches(/\S/, { message: 'name must not be blank' })
  @MaxLength(200)
  @NotContains('\0')
  name!: string;

  @ApiPropertyOptional({
    example: 'acme',
    description: 'Default: derived from the name. Null: as the default, or generated if that is taken.',
    pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
    type: String,
    nullable: true,
  })
  @IsOptional()
  @IsString()
  slug?: string | null;

  @ApiPropertyOptional({ enum: PLANS, nullable: true, description: 'Default: free' })
  @IsOptional()
  @IsIn(PLANS)
  plan?: Plan;

  @ApiPropertyOptional({ type: () => ProjectSettingsInput, nullable: true, description: SETTINGS })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;

  @ApiPropertyOptional({
    description:
      'Connection URL, as a role with CREATEDB and CREATEROLE, of another PostgreSQL server for this project',
    example: 'postgres://plinth:secret@db2.example.com/postgres',
  })
  @IsOptional()
  @Matches(/^postgres(ql)?:\/\/[^\s]+$/, { message: 'database_url must begin with postgres://' })
  database_url?: string;

  @ApiPropertyOptional({
    description:
      'Name of one of the servers of the installation, whatever its status; default: the open one with the largest share of free places',
    example: 'db2',
  })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  server?: string;
}

@Example({ plan: 'enterprise', settings: { max_rows: 1000, locale: 'de' } })
export class UpdateProjectDto {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 200, example: 'Acme' })
  @IsOptional()
  @IsString()
  @Matches(/\S/, { message: 'name must not be blank' })
  @MaxLength(200)
  @NotContains('\0')
  name?: string;

  @ApiPropertyOptional({ enum: PLANS, nullable: true, description: 'Null: unchanged' })
  @IsOptional()
  @IsIn(PLANS)
  plan?: Plan;

  @ApiPropertyOptional({ type: () => ProjectSettingsInput, nullable: true, description: SETTINGS })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;
}

@Example({ grace_seconds: 86_400 })
export class RotateKeysDto {
  @ApiPropertyOptional({
    type: 'integer',
    description:
      'Seconds for which the old keys, and the tokens and storage addresses of old secrets, stay valid; 0 ends them at once; default: 86400',
    minimum: 0,
    maximum: 30 * 86_400,
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(30 * 86_400)
  grace_seconds?: number;
}

export class ListProjectsQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 1_000,
    description: 'Projects per page; default: 100',
  })
  @IsOptional()
  @WholeNumber(1, 1_000)
  limit?: number;

  @ApiPropertyOptional({ ...SIZE, description: 'Projects to skip; default: 0' })
  @IsOptional()
  @WholeNumber(0)
  offset?: number;

  @ApiPropertyOptional({ description: 'Exactly this slug' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  slug?: string;

  @ApiPropertyOptional({ description: 'Part of the name or slug' })
  @IsOptional()
  @IsString()
  @NotContains('\0')
  search?: string;
}
