/** The response of the doctor, as a type and as an OpenAPI schema. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { Finding, FINDING_STATUSES, FindingStatus } from '../../finding';

class FindingResponse implements Finding {
  @ApiProperty({ example: 'disk' }) readonly check!: string;
  @ApiProperty({ enum: FINDING_STATUSES }) readonly status!: FindingStatus;
  @ApiProperty() readonly message!: string;
  @ApiProperty({ type: String, nullable: true, description: 'How to fix it' }) readonly remedy!:
    | string
    | null;
}

@Example({
  version: '0.1.0',
  now: '2026-11-22T21:05:00.000Z',
  findings: [{ check: 'redis', status: 'skipped', message: 'REDIS_URL is not set', remedy: null }],
})
export class DoctorReport {
  @ApiProperty({ description: "The server's version" }) readonly version!: string;
  @ApiProperty({ type: String, format: 'date-time', description: "The server's clock" }) readonly now!: Date;
  @ApiProperty({ type: [FindingResponse] }) readonly findings!: readonly FindingResponse[];
}
