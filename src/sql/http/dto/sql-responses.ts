/** Responses about a project's database, as types and as OpenAPI schemas. */
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { SIZE } from '../../../http/docs/documented-types';
import { Example } from '../../../http/docs/example.decorator';

class SqlStatement {
  @ApiProperty({ type: String, nullable: true, example: 'INSERT' }) readonly command!: string | null;
  @ApiProperty({ ...SIZE, nullable: true, description: 'Rows that were returned or changed' })
  readonly row_count!: number | null;
}

export class SqlResult extends SqlStatement {
  @ApiProperty({
    type: [String],
    description:
      'Names of the columns in their order. One that occurs again gets a number, in the rows as well: `count`, `count_2`.',
  })
  readonly columns!: readonly string[];
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description:
      'Rows of the statement, if the request has `all_results`. Those of the last statement are in the `rows` of the response.',
  })
  readonly rows?: readonly Record<string, unknown>[];
  @ApiPropertyOptional({ description: 'The statement returned more rows than the response holds' })
  readonly truncated?: boolean;
}

@Example({
  command: 'SELECT',
  row_count: 1,
  rows: [{ id: 1, title: 'Try Plinth' }],
  truncated: false,
  statements: [{ command: 'SELECT', row_count: 1, columns: ['id', 'title'] }],
  notices: [],
})
export class SqlResponse extends SqlStatement {
  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'Rows of the last statement',
  })
  readonly rows!: readonly Record<string, unknown>[];
  @ApiProperty({ description: 'The last statement returned more rows than the response holds' })
  readonly truncated!: boolean;
  @ApiProperty({ type: [SqlResult], description: 'Each statement that ran' })
  readonly statements!: readonly SqlResult[];
  @ApiProperty({ type: [String], description: 'Notices and warnings, such as those of RAISE NOTICE' })
  readonly notices!: readonly string[];
}
