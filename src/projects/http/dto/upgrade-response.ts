/** The response of an upgrade, as a type and as an OpenAPI schema. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';

class FailedUpgrade {
  @ApiProperty({ example: 'acme' }) readonly slug!: string;
  @ApiProperty() readonly reason!: string;
}

@Example({ migrated: ['acme'], failed: [] })
export class UpgradeResponse {
  @ApiProperty({ type: [String], description: 'Slugs of the migrated projects' })
  readonly migrated!: readonly string[];
  @ApiProperty({ type: [FailedUpgrade] }) readonly failed!: readonly FailedUpgrade[];
}
