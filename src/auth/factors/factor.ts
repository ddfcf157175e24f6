/** A second factor of an account, and its rows in auth.factors, read and checked: their owner may have altered them. */
import { Statement } from '../../database/statement';
import type { QueryResultRow } from 'pg';
import type { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import type { PasskeyCredential } from '../../identity/passkeys/webauthn';

const TABLE = 'auth.factors';
/** UTF-16 code units: the table allows 320 characters, and a character has up to two. */
const MAX_NAME = 640;
/** Bytes of an encrypted secret; Plinth's own have 61. */
const MAX_SEALED = 1_024;

/** Characters of a key in JSON. */
const MAX_CREDENTIAL = 8_192;

export const FACTOR_KINDS = ['totp', 'webauthn', 'phone'] as const;
export type FactorKind = (typeof FACTOR_KINDS)[number];

export interface Factor {
  readonly id: string;
  readonly kind: FactorKind;
  readonly name: string;
  readonly createdAt: Date;
  /** Null until the user has confirmed the factor with a code. */
  readonly verifiedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A security key of a user. */
export interface FactorKey extends PasskeyCredential {
  readonly rpId: string;
}

/** The data with which proofs are verified: the encrypted secret of an app, or the key, which is null until its first use. */
export interface SealedFactor {
  readonly kind: FactorKind;
  readonly sealedSecret: Buffer | null;
  readonly key: FactorKey | null;
  readonly phone: string | null;
  readonly verified: boolean;
}

/** The columns of a Factor; `f` is auth.factors. */
export const FACTOR_COLUMNS = 'f.id, f.kind, f.name, f.created_at, f.verified_at, f.last_used_at';

/** @param row with FACTOR_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toFactor(row: QueryResultRow): Factor {
  const factor = new RecordReader(TABLE, row);
  return {
    id: factor.uuid('id'),
    kind: factor.oneOf('kind', FACTOR_KINDS),
    name: factor.text('name', MAX_NAME),
    createdAt: factor.date('created_at'),
    verifiedAt: factor.dateOrNull('verified_at'),
    lastUsedAt: factor.dateOrNull('last_used_at'),
  };
}

/** For a batch: the factors of an account, the oldest first. */
export const factorsOf = (userId: string): Statement => ({
  name: 'auth:factors-by-user',
  text: `select ${FACTOR_COLUMNS} from auth.factors f where f.user_id = $1 order by f.created_at, f.id`,
  values: [userId],
});

/** @param row with kind, sealed_secret, credential, phone and verified_at @throws AppError 500 for a value that the column cannot hold */
export function toSealedFactor(row: QueryResultRow): SealedFactor {
  const factor = new RecordReader(TABLE, row);
  return {
    kind: factor.oneOf('kind', FACTOR_KINDS),
    sealedSecret: factor.bytesOrNull('sealed_secret', MAX_SEALED),
    phone: factor.textOrNull('phone', 20),
    key: factor.isNull('credential') ? null : toKey(factor.jsonObject('credential', MAX_CREDENTIAL)),
    verified: !factor.isNull('verified_at'),
  };
}

/** The column `credential` of a key. */
export const keyText = ({ credentialId, publicKey, counter, rpId }: FactorKey): string =>
  JSON.stringify({ id: credentialId, public_key: publicKey.toString('base64url'), counter, rp_id: rpId });

/** Null for a key that Plinth did not write. */
function toKey({ id, public_key: key, counter, rp_id: rpId }: JsonObject): FactorKey | null {
  if (typeof id !== 'string' || typeof key !== 'string' || typeof rpId !== 'string') return null;
  if (typeof counter !== 'number') return null;
  return { credentialId: id, publicKey: Buffer.from(key, 'base64url'), counter, rpId };
}
