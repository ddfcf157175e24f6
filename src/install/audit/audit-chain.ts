/**
 * The chain of hashes over the audit log: each link holds the hash of the link before it and of its own record
 * (docs/reference/administration.md, "Audit log"). The platform database appends links (migrations/platform); here they are verified.
 */
import { createHash } from 'node:crypto';

/** Stands for the previous hash in the first link. */
export const CHAIN_START = '0'.repeat(64);

/** A record as the database prints it. */
export interface ChainedRecord {
  readonly id: string;
  /** UTC with microseconds: `2026-01-01T08:00:00.000000Z`. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly project_id: string | null;
  readonly address: string | null;
  /** The text of the jsonb value. */
  readonly details: string;
}

export interface ChainLink {
  readonly position: number;
  readonly recordId: string;
  readonly previousHash: string;
  readonly hash: string;
  /** Null when the record is missing. */
  readonly record: ChainedRecord | null;
}

export const FAULTS = ['removed', 'changed', 'unlinked', 'unchained', 'head'] as const;
export type ChainFault = (typeof FAULTS)[number];

export interface BrokenLink {
  /** Null for a record that the chain does not contain. */
  readonly position: number | null;
  readonly recordId: string | null;
  readonly fault: ChainFault;
}

/** SHA-256, in hexadecimal, of PostgreSQL's json_build_array() of the same values. */
function hashOf(position: number, previousHash: string, record: ChainedRecord): string {
  const { id, at, actor, action, project_id: projectId, address, details } = record;
  const values = [position, previousHash, id, at, actor, action, projectId, address];
  const text = `[${values.map((value) => JSON.stringify(value)).join(', ')}, ${details}]`;
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The first fault of consecutive links; null when there is none.
 * @param previous position and hash of the link before them
 */
export function findBroken(
  links: readonly ChainLink[],
  previous: Pick<ChainLink, 'position' | 'hash'>,
): BrokenLink | null {
  let { position, hash } = previous;
  for (const link of links) {
    const fault = faultOf(link, position, hash);
    if (fault) return { position: link.position, recordId: link.recordId, fault };
    ({ position, hash } = link);
  }
  return null;
}

function faultOf(link: ChainLink, position: number, hash: string): ChainFault | null {
  if (link.position !== position + 1 || link.previousHash !== hash) return 'unlinked';
  if (!link.record) return 'removed';
  return hashOf(link.position, link.previousHash, link.record) === link.hash ? null : 'changed';
}
