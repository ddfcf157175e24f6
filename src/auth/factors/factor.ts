/** A second factor of an account, and its rows in auth.factors, read and checked: their owner may have altered them. */
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';

const TABLE = 'auth.factors';
/** UTF-16 code units: the table allows 320 characters, and a character has up to two. */
const MAX_NAME = 640;
/** Bytes of an encrypted secret; Plinth's own have 61. */
const MAX_SEALED = 1_024;

export interface Factor {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Null until the user has confirmed the factor with a code. */
  readonly verifiedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A factor in an answer: without its secret. */
export interface FactorView {
  readonly id: string;
  readonly kind: 'totp';
  readonly name: string;
  readonly created_at: string;
  readonly verified_at: string | null;
  readonly last_used_at: string | null;
}

/** The encrypted secret, against which a code is verified. */
export interface SealedFactor {
  readonly sealedSecret: Buffer;
  readonly verified: boolean;
}

/** The columns of a Factor; `f` is auth.factors. */
export const FACTOR_COLUMNS = 'f.id, f.name, f.created_at, f.verified_at, f.last_used_at';

export function toFactorView({ id, name, createdAt, verifiedAt, lastUsedAt }: Factor): FactorView {
  return {
    id,
    kind: 'totp',
    name,
    created_at: createdAt.toISOString(),
    verified_at: verifiedAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

/** @param row with FACTOR_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toFactor(row: QueryResultRow): Factor {
  const factor = new RecordReader(TABLE, row);
  return {
    id: factor.uuid('id'),
    name: factor.text('name', MAX_NAME),
    createdAt: factor.date('created_at'),
    verifiedAt: factor.dateOrNull('verified_at'),
    lastUsedAt: factor.dateOrNull('last_used_at'),
  };
}

/** @param row with sealed_secret and verified_at @throws AppError 500 for a value that the column cannot hold */
export function toSealedFactor(row: QueryResultRow): SealedFactor {
  const factor = new RecordReader(TABLE, row);
  return {
    sealedSecret: factor.bytes('sealed_secret', MAX_SEALED),
    verified: !factor.isNull('verified_at'),
  };
}
