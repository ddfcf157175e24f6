/** Body of a run of a project's migrations. */
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { Example } from '../../../http/docs/example.decorator';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsString,
  Matches,
  Max,
  Min,
  NotContains,
  ValidateNested,
} from 'class-validator';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

class MigrationDto {
  @ApiProperty({ example: '20261122210000', description: 'Up to 18 digits; sets the order' })
  @Matches(/^\d{1,18}$/, { message: 'version must have 1 to 18 digits' })
  version!: string;

  @ApiProperty({ example: 'create_notes', pattern: '^[\\w-]{1,200}$' })
  @Matches(/^[\w-]{1,200}$/, { message: 'name must have 1 to 200 letters, digits, hyphens and underscores' })
  name!: string;

  @ApiProperty({ example: 'create table notes (id bigint primary key)' })
  @IsString()
  @NotContains('\0')
  sql!: string;
}

@Example({
  migrations: [
    {
      version: '20261122210000',
      name: 'create_notes',
      sql: 'create table notes (id bigint primary key)',
    },
  ],
})
export class RunMigrationsDto {
  @ApiProperty({ type: [MigrationDto], description: 'In the order of their versions', maxItems: 1_000 })
  @IsArray()
  @ArrayMaxSize(1_000)
  @ValidateNested({ each: true })
  @Type(() => MigrationDto)
  migrations!: MigrationDto[];

  @OptionalProperty({
    description: 'Runs the pending migrations in one transaction that is rolled back; default: false',
  })
  @IsBoolean()
  dry_run?: boolean;

  @OptionalProperty({
    description: 'Allows a migration whose version is below one that is applied; default: false',
  })
  @IsBoolean()
  out_of_order?: boolean;

  @OptionalProperty({
    description: 'Seconds after which a migration is ended; default: 600',
    type: 'integer',
    minimum: 1,
    maximum: 3_600,
  })
  @IsInt()
  @Min(1)
  @Max(3_600)
  timeout_seconds?: number;

  @OptionalProperty({
    description: 'Seconds to wait for another run of the same project; default: 60',
    type: 'integer',
    minimum: 1,
    maximum: 3_600,
  })
  @IsInt()
  @Min(1)
  @Max(3_600)
  lock_timeout_seconds?: number;
}
