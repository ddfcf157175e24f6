/** The audit log's responses, as types and as OpenAPI schemas. */
import { FREE_OBJECT } from '../../../http/docs/documented-types';
import { FAULTS } from '../../audit/audit-chain';
import { AuditRecord } from '../../audit/audit-log.repository';
import * as f from '../../../http/model/fields';

const HASH = '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b';
const SHA_256 = { type: String, pattern: '^[0-9a-f]{64}$', nullable: true } as const;

export class AuditLogEntry
  extends f.model({
    id: f.text({ example: '1042' }),
    at: f.timeText('With microseconds, as it is hashed'),
    actor: f.text({ example: 'platform-admin' }),
    action: f.text({ example: 'project.create' }),
    project_id: f.nullable.text({ example: 'k3v9x0a1b2c3d4e5f6g7' }),
    address: f.nullable(
      f.field<string>({ type: String, description: "The client's address", example: '203.0.113.7' }),
    ),
    details: f.field<AuditRecord['details']>({ ...FREE_OBJECT, example: { slug: 'acme' } }),
    position: f.nullable.size(
      'Position in the hash chain, from 1; null for a record that was written bypassing the chain',
      { example: 1042 },
    ),
    previous_hash: f.field<string | null>({
      ...SHA_256,
      description: 'The hash of the record at the previous position',
      example: HASH,
    }),
    hash: f.field<string | null>({
      ...SHA_256,
      description: 'SHA-256 of this record with position and previous_hash',
      example: 'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35',
    }),
  })
  implements AuditRecord {}

class ChainHeadResponse extends f.model({
  position: f.size(),
  hash: f.text({ pattern: '^[0-9a-f]{64}$' }),
}) {}

class BrokenChainResponse extends f.model({
  position: f.nullable.size('Position in the chain; null if it has none'),
  record_id: f.nullable.text('The id of the record, if it is known'),
  fault: f.choice(
    FAULTS,
    '`changed`: the record is not the one that was hashed. `removed`: it is missing. `unlinked`: the link does not continue the one before it. `unchained`: the record was written bypassing the chain. `head`: the chain does not contain the head that was passed.',
  ),
}) {}

export class AuditVerification extends f.model({
  intact: f.flag('False when a record of this slice is broken', { example: false }),
  checked: f.size('Records of this slice that are intact', { example: 42 }),
  next: f.nullable.size('Value of `after` for the next slice; null after the last one'),
  head: f.nullable.object(
    ChainHeadResponse,
    'The newest link. Keep it elsewhere, and pass it as `head` later; null in an empty log',
    { example: { position: 1042, hash: HASH } },
  ),
  broken: f.nullable.object(BrokenChainResponse, 'The first fault', {
    example: { position: 17, record_id: '17', fault: 'changed' },
  }),
}) {}
