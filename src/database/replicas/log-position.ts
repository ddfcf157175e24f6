/** Positions in the write-ahead log (PostgreSQL manual, "pg_lsn Type"): of the primary, and up to which a replica has replayed. */

const PG_LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;
const HALF = 32n;

/** From PostgreSQL's form, `16/B374D848`; null for any other text. */
export function parsePosition(text: string): bigint | null {
  const [, high, low] = PG_LSN.exec(text) ?? [];
  return high === undefined || low === undefined ? null : (BigInt(`0x${high}`) << HALF) | BigInt(`0x${low}`);
}

/** In PostgreSQL's form. */
export function formatPosition(position: bigint): string {
  return `${hex(position >> HALF)}/${hex(BigInt.asUintN(32, position))}`;
}

const hex = (value: bigint): string => value.toString(16).toUpperCase();
