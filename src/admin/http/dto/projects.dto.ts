/** Bodies of the project administration. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNotEmpty,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Plan, PLANS } from '../../../projects/plans';
import { ProjectSettingsInput } from '../../../projects/project-settings';

export class CreateProjectDto {
  @ApiProperty({ example: 'Acme' }) @IsString() @IsNotEmpty() @MaxLength(200) name!: string;

  @ApiPropertyOptional({ example: 'acme' }) @IsOptional() @IsString() slug?: string;

  @ApiPropertyOptional({ enum: PLANS }) @IsOptional() @IsIn(PLANS) plan?: Plan;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;

  @ApiPropertyOptional({ description: 'Admin URL of another PostgreSQL server that shall hold the database' })
  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//)
  database_url?: string;
}

export class UpdateProjectDto {
  @ApiPropertyOptional() @IsOptional() @IsString() @IsNotEmpty() @MaxLength(200) name?: string;

  @ApiPropertyOptional({ enum: PLANS }) @IsOptional() @IsIn(PLANS) plan?: Plan;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  @IsOptional()
  @ValidateNested()
  @Type(() => ProjectSettingsInput)
  settings?: ProjectSettingsInput;
}

export class RotateKeysDto {
  @ApiPropertyOptional({ description: 'Seconds for which the old keys stay valid', default: 86_400 })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(30 * 86_400)
  grace_seconds?: number;
}

export class SqlDto {
  @ApiProperty({ example: 'create table notes (id bigint primary key)' })
  @IsString()
  @IsNotEmpty()
  query!: string;
}
