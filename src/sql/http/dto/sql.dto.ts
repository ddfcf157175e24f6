/** The request that runs SQL. */
import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsNotEmpty, IsString, Max, Min, NotContains } from 'class-validator';
import { Example } from '../../../http/docs/example.decorator';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

@Example({ query: 'create table notes (id bigint primary key, title text)', timeout_seconds: 60 })
export class SqlDto {
  @ApiProperty({ minLength: 1, example: 'create table notes (id bigint primary key)' })
  @IsString()
  @IsNotEmpty()
  @NotContains('\0')
  query!: string;

  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: 3_600,
    description: 'Seconds after which the SQL is ended; default: 60',
  })
  @IsInt()
  @Min(1)
  @Max(3_600)
  timeout_seconds?: number;

  @OptionalProperty({
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of rows of a statement in the response; default: 10000',
  })
  @IsInt()
  @Min(1)
  @Max(100_000)
  max_rows?: number;

  @OptionalProperty({
    description:
      'Also returns the rows of the statements before the last one, in `statements`; default: false',
  })
  @IsBoolean()
  all_results?: boolean;

  @OptionalProperty({
    description:
      'Answers numbers, arrays and JSON as text, too, for clients whose JSON parser rounds large numbers; default: false',
  })
  @IsBoolean()
  text_values?: boolean;
}
