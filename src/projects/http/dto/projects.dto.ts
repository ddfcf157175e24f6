/** Bodies and query strings of the project administration. */
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
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
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

const SETTINGS =
  'Unknown settings are refused; null takes one back to its default. docs/reference/administration.md lists them.';

@Example({ name: 'Acme', plan: 'pro', settings: { max_rows: 1000 } })
export class CreateProjectDto {
  @ApiProperty({ example: 'Acme', maxLength: 200, description: 'Display name; not unique' })
  @IsString()
  @Matches(/\S/, { message: 'name must not be blank' })
  @MaxLength(200)
  @NotContains('\0')
  name!: string;

  @OptionalProperty({
    example: 'acme',
    description: 'Default: derived from the name. Null: as the default, or generated if that is taken.',
    pattern: '^[a-z][a-z0-9-]{0,38}[a-z0-9]$',
    type: String,
    nullable: true,
  })
  @IsString()
  slug?: string | null;

  @OptionalProperty({ enum: PLANS, nullable: true, description: 'Default: free' })
  @IsIn(PLANS)
  plan?: Plan;

  @OptionalProperty({ type: () => ProjectSettingsInput, nullable: true, description: SETTINGS })
  @IsObject()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;

  @OptionalProperty({
    description:
      'Connection URL, as a role with CREATEDB and CREATEROLE, of another PostgreSQL server for this project',
    example: 'postgres://plinth:secret@db2.example.com/postgres',
  })
  @Matches(/^postgres(ql)?:\/\/[^\s]+$/, { message: 'database_url must begin with postgres://' })
  database_url?: string;

  @OptionalProperty({
    description:
      'Name of one of the servers of the installation, whatever its status; default: the open one with the largest share of free places',
    example: 'db2',
  })
  @IsString()
  @NotContains('\0')
  server?: string;
}

@Example({ plan: 'enterprise', settings: { max_rows: 1000, locale: 'de' } })
export class UpdateProjectDto {
  @OptionalProperty({ type: String, nullable: true, maxLength: 200, example: 'Acme' })
  @IsString()
  @Matches(/\S/, { message: 'name must not be blank' })
  @MaxLength(200)
  @NotContains('\0')
  name?: string;

  @OptionalProperty({ enum: PLANS, nullable: true, description: 'Null: unchanged' })
  @IsIn(PLANS)
  plan?: Plan;

  @OptionalProperty({ type: () => ProjectSettingsInput, nullable: true, description: SETTINGS })
  @IsObject()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;

  @OptionalProperty({
    type: String,
    nullable: true,
    format: 'date-time',
    example: '2026-01-01T08:00:00.000Z',
    description:
      'The updated_at that you read: if the project was changed after that, the answer is 409 and nothing changes',
  })
  @IsISO8601({ strict: true })
  unchanged_since?: string | null;
}

const ROTATIONS = ['signing_keys'] as const;

@Example({ grace_seconds: 86_400 })
export class RotateKeysDto {
  @OptionalProperty({
    type: 'integer',
    description:
      'Seconds for which the old keys, and the tokens and storage addresses of old secrets, stay valid; 0 ends them at once; default: 86400',
    minimum: 0,
    maximum: 30 * 86_400,
  })
  @IsInt()
  @Min(0)
  @Max(30 * 86_400)
  grace_seconds?: number;

  @OptionalProperty({
    enum: ROTATIONS,
    description:
      "`signing_keys`: only the key pair that signs users' tokens; the two keys, the secret and the database password stay. Default: all",
  })
  @IsIn(ROTATIONS)
  only?: (typeof ROTATIONS)[number];
}

export class ListProjectsQuery {
  @OptionalProperty({ description: 'Projects per page; default: 100' })
  @WholeNumber(1, 1_000)
  limit?: number;

  @OptionalProperty({ description: 'Projects to skip; default: 0' })
  @WholeNumber(0)
  offset?: number;

  @OptionalProperty({ description: 'Exactly this slug' })
  @IsString()
  @NotContains('\0')
  slug?: string;

  @OptionalProperty({ description: 'Part of the name or slug' })
  @IsString()
  @NotContains('\0')
  search?: string;
}
