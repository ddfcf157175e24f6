/** The closest of several names, for hints. */

/** Shared pairs of letters, of all (Dice): at least this much counts as a slip of the pen. */
const ENOUGH = 0.6;
/** Comparing takes time: with more candidates than this there is no hint. */
const MOST_CANDIDATES = 2_000;

/** Null when none is close. */
export function mostSimilar(name: string, candidates: readonly string[]): string | null {
  if (candidates.length > MOST_CANDIDATES || name.length > 63) return null;
  const wanted = pairsOf(name);
  let best: { name: string; score: number } | null = null;
  for (const candidate of candidates) {
    const score = similarity(wanted, pairsOf(candidate));
    if (score >= ENOUGH && (!best || score > best.score)) best = { name: candidate, score };
  }
  return best?.name ?? null;
}

/** `role` gives `-r ro ol le e-`. */
function pairsOf(name: string): Map<string, number> {
  const text = `-${name.toLowerCase()}-`;
  const pairs = new Map<string, number>();
  for (let at = 0; at < text.length - 1; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

function similarity(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0;
  let total = 0;
  for (const [pair, count] of a) {
    shared += Math.min(count, b.get(pair) ?? 0);
    total += count;
  }
  for (const count of b.values()) total += count;
  return (2 * shared) / total;
}
