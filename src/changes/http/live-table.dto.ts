/** Live tables, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsString, MaxLength, MinLength } from 'class-validator';
import { Example } from '../../http/docs/example.decorator';

/** Bytes of a name in PostgreSQL. */
const NAME_LENGTH = 63;
const SCHEMA = { example: 'public', minLength: 1, maxLength: NAME_LENGTH } as const;
const TABLE = { example: 'orders', minLength: 1, maxLength: NAME_LENGTH } as const;
const LIVE = { description: 'Whether clients that may read its rows can follow their changes' } as const;

@Example({ schema: SCHEMA.example, table: TABLE.example, live: true })
export class ChangeLiveTableDto {
  @ApiProperty(SCHEMA)
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  schema!: string;

  @ApiProperty(TABLE)
  @IsString()
  @MinLength(1)
  @MaxLength(NAME_LENGTH)
  table!: string;

  @ApiProperty(LIVE)
  @IsBoolean()
  live!: boolean;
}

@Example({ schema: SCHEMA.example, table: TABLE.example, live: true, can_be_live: true })
export class LiveTable {
  @ApiProperty() readonly schema!: string;
  @ApiProperty() readonly table!: string;
  @ApiProperty(LIVE) readonly live!: boolean;
  @ApiProperty({ description: 'False without a primary key or another replica identity' })
  readonly can_be_live!: boolean;
}
