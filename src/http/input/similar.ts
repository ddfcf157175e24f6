/**
 * The closest of several names, for hints. The algorithm is PostgREST's FuzzySet, so that both give the same hint.
 */
import { distance } from 'fastest-levenshtein';

/** Lengths of the n-grams that candidates must share; pairs count only where no three are shared. */
const RUN_LENGTHS = [3, 2];
/** Similarity required for names of tables and functions: high, so that guessing finds few of them. */
export const NEARLY = 0.75;
/** Similarity required for names that the caller may know: arguments of a function, tables to embed. */
const ROUGHLY = 0.33;
/** Number of candidates with the most n-grams in common that are compared letter by letter. */
const MAX_COMPARED = 50;
/** The comparison takes time: with more or longer candidates than this there is no hint. */
const MAX_CANDIDATES = 2_000;
const MAX_LENGTH = 200;

/**
 * Null when none is close.
 * @param enough the required similarity, from 0 to 1
 */
export function mostSimilar(
  name: string,
  candidates: readonly string[],
  enough: number = ROUGHLY,
): string | null {
  if (candidates.length > MAX_CANDIDATES || name.length > MAX_LENGTH) return null;
  const wanted = name.toLowerCase();
  const known = candidates.filter(({ length }) => length <= MAX_LENGTH);
  const same = known.find((candidate) => candidate.toLowerCase() === wanted);
  if (same !== undefined) return same;
  for (const length of RUN_LENGTHS) {
    const found = closest(wanted, known, length, enough);
    if (found !== null) return found;
  }
  return null;
}

function closest(
  wanted: string,
  candidates: readonly string[],
  length: number,
  enough: number,
): string | null {
  const runs = runsOf(wanted, length);
  const [best] = candidates
    .map((candidate) => ({ candidate, score: cosine(runs, runsOf(candidate, length)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_COMPARED)
    .map(({ candidate }) => ({ candidate, score: likeness(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => b.score - a.score);
  return best !== undefined && best.score >= enough ? best.candidate : null;
}

/** N-grams of `length` characters and their counts: of `role`, in threes, `-ro rol ole le-`. */
function runsOf(name: string, length: number): Map<string, number> {
  const text = `-${name.toLowerCase().replace(/[^a-z0-9\u00c0-\u00ff, ]/g, '')}-`;
  const runs = new Map<string, number>();
  for (let at = 0; at + length <= text.length; at += 1) {
    const run = text.slice(at, at + length);
    runs.set(run, (runs.get(run) ?? 0) + 1);
  }
  return runs;
}

function cosine(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let shared = 0;
  for (const [run, count] of a) shared += count * (b.get(run) ?? 0);
  return shared === 0 ? 0 : shared / (norm(a) * norm(b));
}

function norm(runs: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of runs.values()) sum += count * count;
  return Math.sqrt(sum);
}

/** 1 for equal texts, 0 where every letter differs: Levenshtein's distance relative to the longer length. */
function likeness(a: string, b: string): number {
  return 1 - distance(a, b) / Math.max(a.length, b.length, 1);
}
