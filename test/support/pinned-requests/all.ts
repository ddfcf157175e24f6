/** Every pinned request. */
import { CALLS } from './calls';
import type { PinnedRequest } from './pinned-request';
import { READS } from './reads';
import { WRITES } from './writes';

const ALL = [...READS, ...CALLS, ...WRITES];

/** Pairs of title and request, for `it.each`. */
export const PINNED_REQUESTS: readonly (readonly [title: string, pinned: PinnedRequest])[] = ALL.map(
  (one) => [[one.line, ...Object.values(one.headers ?? {}), one.body].filter(Boolean).join(' '), one],
);
