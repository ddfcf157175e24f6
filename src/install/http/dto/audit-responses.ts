/** The audit log's responses, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { FREE_OBJECT, SIZE } from '../../../http/docs/documented-types';
import { ChainFault, FAULTS } from '../../audit/audit-chain';
import { AuditRecord } from '../../audit/audit-log.repository';

const HASH = '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b';
const SHA_256 = { type: String, pattern: '^[0-9a-f]{64}$', nullable: true } as const;

@Example({
  id: '1042',
  at: '2026-01-01T08:00:00.000000Z',
  actor: 'platform-admin',
  action: 'project.create',
  project_id: 'k3v9x0a1b2c3d4e5f6g7',
  address: '203.0.113.7',
  details: { slug: 'acme' },
  position: 1042,
  previous_hash: HASH,
  hash: 'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35',
})
export class AuditLogEntry implements AuditRecord {
  @ApiProperty() readonly id!: string;
  @ApiProperty({ format: 'date-time', description: 'With microseconds, as it is hashed' })
  readonly at!: string;
  @ApiProperty({ example: 'platform-admin' }) readonly actor!: string;
  @ApiProperty({ example: 'project.create' }) readonly action!: string;
  @ApiProperty({ type: String, nullable: true }) readonly project_id!: string | null;
  @ApiProperty({ type: String, nullable: true, description: "The client's address" }) readonly address!:
    | string
    | null;
  @ApiProperty(FREE_OBJECT) readonly details!: AuditRecord['details'];
  @ApiProperty({
    ...SIZE,
    nullable: true,
    description: 'Position in the hash chain, from 1; null for a record that was written bypassing the chain',
  })
  readonly position!: number | null;
  @ApiProperty({ ...SHA_256, description: 'The hash of the record at the previous position' })
  readonly previous_hash!: string | null;
  @ApiProperty({ ...SHA_256, description: 'SHA-256 of this record with position and previous_hash' })
  readonly hash!: string | null;
}

class ChainHeadResponse {
  @ApiProperty(SIZE) readonly position!: number;
  @ApiProperty({ pattern: '^[0-9a-f]{64}$' }) readonly hash!: string;
}

class BrokenChainResponse {
  @ApiProperty({ ...SIZE, nullable: true, description: 'Position in the chain; null if it has none' })
  readonly position!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'The id of the record, if it is known' })
  readonly record_id!: string | null;
  @ApiProperty({
    enum: FAULTS,
    description:
      '`changed`: the record is not the one that was hashed. `removed`: it is missing. `unlinked`: the link does not continue the one before it. `unchained`: the record was written bypassing the chain. `head`: the chain does not contain the head that was passed.',
  })
  readonly fault!: ChainFault;
}

@Example({
  intact: false,
  checked: 42,
  next: null,
  head: { position: 1042, hash: HASH },
  broken: { position: 17, record_id: '17', fault: 'changed' },
})
export class AuditVerification {
  @ApiProperty({ description: 'False when a record of this slice is broken' }) readonly intact!: boolean;
  @ApiProperty({ ...SIZE, description: 'Records of this slice that are intact' }) readonly checked!: number;
  @ApiProperty({
    ...SIZE,
    nullable: true,
    description: 'Value of `after` for the next slice; null after the last one',
  })
  readonly next!: number | null;
  @ApiProperty({
    type: ChainHeadResponse,
    nullable: true,
    description: 'The newest link. Keep it elsewhere, and pass it as `head` later; null in an empty log',
  })
  readonly head!: ChainHeadResponse | null;
  @ApiProperty({ type: BrokenChainResponse, nullable: true, description: 'The first fault' })
  readonly broken!: BrokenChainResponse | null;
}
