/** A second factor of an account, and how its owner and administrators see it: never with the secret. */

export interface Factor {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Null until its owner has proved to hold it. */
  readonly verifiedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

export interface FactorView {
  readonly id: string;
  readonly kind: 'totp';
  readonly name: string;
  readonly created_at: string;
  readonly verified_at: string | null;
  readonly last_used_at: string | null;
}

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
