/** Saved queries, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString, MaxLength, MinLength } from 'class-validator';
import { Example } from '../../http/docs/example.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { OptionalProperty } from '../../http/input/optional-property.decorator';

/** Characters. */
const NAME_LENGTH = 100;
const SQL_LENGTH = 100_000;

const NAME = { example: 'Signups of the week', minLength: 1, maxLength: NAME_LENGTH } as const;
const SQL = { example: 'select count(*) from auth.users', minLength: 1, maxLength: SQL_LENGTH } as const;
const SHARED = {
  description: 'Whether all staff who can run SQL in the project see it; otherwise only its author does',
} as const;

@Example({ name: NAME.example, sql: SQL.example, shared: true })
export class SaveQueryDto {
  @ApiProperty({ ...NAME, description: 'Unique among the queries of the author in the project' })
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  name!: string;

  @ApiProperty(SQL)
  @IsString()
  @MinLength(1)
  @MaxLength(SQL_LENGTH)
  sql!: string;

  @OptionalProperty(SHARED)
  @IsBoolean()
  shared?: boolean;
}

@Example({ shared: false })
export class UpdateQueryDto {
  @OptionalProperty(NAME)
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  name?: string;

  @OptionalProperty(SQL)
  @IsString()
  @MinLength(1)
  @MaxLength(SQL_LENGTH)
  sql?: string;

  @OptionalProperty(SHARED)
  @IsBoolean()
  shared?: boolean;
}

@Example({
  id: UUID_EXAMPLE,
  name: NAME.example,
  sql: SQL.example,
  shared: true,
  mine: false,
  author: 'Ada Lovelace',
  created_at: '2026-01-01T08:00:00.000Z',
  updated_at: '2026-01-01T08:00:00.000Z',
})
export class SavedQuery {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty() readonly sql!: string;
  @ApiProperty(SHARED) readonly shared!: boolean;
  @ApiProperty({ description: 'True if the sender saved it, and may change it' }) readonly mine!: boolean;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the staff member; null: saved with PLATFORM_ADMIN_KEY',
  })
  readonly author!: string | null;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: String, format: 'date-time' }) readonly updated_at!: Date;
}
