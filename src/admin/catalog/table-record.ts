/** A table of a project, as a type and as an OpenAPI schema. */
import { ApiProperty } from '@nestjs/swagger';
import { INT64 } from '../../http/docs/documented-types';
import { Example } from '../../http/docs/example.decorator';

@Example({
  schema: 'public',
  name: 'notes',
  rls_enabled: true,
  rls_forced: false,
  policies: 2,
  open: false,
  estimated_rows: 1200,
})
export class TableResponse {
  @ApiProperty() readonly schema!: string;
  @ApiProperty() readonly name!: string;
  @ApiProperty() readonly rls_enabled!: boolean;
  @ApiProperty({ description: "Row-level security applies to the tables' owner too" })
  readonly rls_forced!: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Number of policies' }) readonly policies!: number;
  @ApiProperty({
    description:
      'Row-level security is off, and anon or authenticated may read or write: accessible with the anon key',
  })
  readonly open!: boolean;
  @ApiProperty({ ...INT64, minimum: -1, description: 'Estimate of the planner; -1 before the first ANALYZE' })
  readonly estimated_rows!: number;
}
