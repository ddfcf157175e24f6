/** The admin API's responses about servers for projects' databases. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE } from '../../../http/docs/documented-types';

export const SERVER_STATUSES = ['open', 'draining'] as const;

@Example({ host: 'db2-replica.example.com', port: 5432, reachable: true, fault: null })
export class ReplicaResponse {
  @ApiProperty() readonly host!: string;
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 65_535 }) readonly port!: number;
  @ApiProperty({ description: 'It answers and is a standby' }) readonly reachable!: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'Why it is not read' })
  readonly fault!: string | null;
}

@Example({
  name: 'db2',
  host: 'db2.example.com',
  port: 5432,
  status: 'open',
  capacity: 1000,
  projects: 42,
  reachable: true,
  fault: null,
  replicas: [{ host: 'db2-replica.example.com', port: 5432, reachable: true, fault: null }],
  pooler: null,
  created_at: '2026-01-01T08:00:00.000Z',
})
export class DatabaseServerResponse {
  @ApiProperty({ example: 'db2', description: '`platform` is the server of the platform database' })
  readonly name!: string;
  @ApiProperty() readonly host!: string;
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 65_535 }) readonly port!: number;
  @ApiProperty({ enum: SERVER_STATUSES, description: 'A draining one gets no new projects' })
  readonly status!: (typeof SERVER_STATUSES)[number];
  @ApiProperty({ ...SIZE, description: 'Number of projects at which no new ones are placed here' })
  readonly capacity!: number;
  @ApiProperty({ ...SIZE, description: 'Projects whose database is here' }) readonly projects!: number;
  @ApiProperty() readonly reachable!: boolean;
  @ApiProperty({ type: String, nullable: true, description: 'Why it cannot be reached' })
  readonly fault!: string | null;
  @ApiProperty({ type: [ReplicaResponse], description: 'Standbys that serve reads' })
  readonly replicas!: ReplicaResponse[];
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'PgBouncer through which requests reach the server',
  })
  readonly pooler!: string | null;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
}

@Example({ name: 'db2', removed: true })
export class RemovedServer {
  @ApiProperty() readonly name!: string;
  @ApiProperty() readonly removed!: boolean;
}
