/**
 * The position of a change in the log: the position of its commit and the number of the change in the transaction, as
 * `0/16B3748.12`. A client that has seen half of a commit continues in the middle of it.
 */

export interface Position {
  readonly commit: bigint;
  readonly index: number;
}

const FORM = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})(?:\.(\d{1,10}))?$/i;
const HALF = 32n;

/** Null for malformed text. */
export function parsePosition(text: string): Position | null {
  const [, high, low, index] = FORM.exec(text) ?? [];
  if (high === undefined || low === undefined) return null;
  // A position without an index is after the whole commit.
  return {
    commit: (BigInt(`0x${high}`) << HALF) | BigInt(`0x${low}`),
    index: index === undefined ? Number.MAX_SAFE_INTEGER : Number(index),
  };
}

export function positionText({ commit, index }: Position): string {
  return `${logText(commit)}.${index}`;
}

/** As PostgreSQL writes a pg_lsn. */
export function logText(position: bigint): string {
  const low = position & 0xffff_ffffn;
  return `${(position >> HALF).toString(16)}/${low.toString(16)}`.toUpperCase();
}

/** All changes of commits before this position. */
export const upTo = (commit: bigint): Position => ({ commit, index: -1 });

export function isAfter(a: Position, b: Position): boolean {
  return a.commit === b.commit ? a.index > b.index : a.commit > b.commit;
}
