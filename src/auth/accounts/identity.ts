/** An identity of a user at a provider: a row of auth.identities, checked. */
import type { QueryResultRow } from 'pg';
import type { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import type { Statement } from '../../database/statement';

/** Characters of `data` as PostgreSQL prints it. */
const MAX_DATA = 64 * 1024;
/** Identities of a user that are read. */
export const MAX_IDENTITIES = 100;

export interface Identity {
  readonly id: string;
  readonly userId: string;
  readonly provider: string;
  readonly subject: string;
  readonly data: JsonObject;
  readonly lastSignInAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const IDENTITY_COLUMNS = `i.id, i.user_id, i.provider, i.subject, i.data::text as data, i.last_sign_in_at,
  i.created_at, i.updated_at`;

/** @param row with IDENTITY_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toIdentity(row: QueryResultRow): Identity {
  const record = new RecordReader('auth.identities', row);
  return {
    id: record.uuid('id'),
    userId: record.uuid('user_id'),
    provider: record.text('provider', 63),
    subject: record.text('subject', 255),
    data: record.jsonObject('data', MAX_DATA),
    lastSignInAt: record.dateOrNull('last_sign_in_at'),
    createdAt: record.date('created_at'),
    updatedAt: record.date('updated_at'),
  };
}

/** For a batch: the identities of an account, the oldest first. */
export const identitiesOf = (userId: string): Statement => ({
  name: 'auth:identities-by-user',
  text: `select ${IDENTITY_COLUMNS} from auth.identities i where i.user_id = $1
    order by i.created_at, i.id limit ${MAX_IDENTITIES}`,
  values: [userId],
});
