/** The number of cases of a long list in a run: `npm run soak` runs all of them, `npm test` the first few. */
export const IN_SOAK = process.env.PLINTH_SOAK === '1';

/** @param usual number of cases in `npm test`; the most useful cases come first */
export function casesOf<Case>(all: readonly Case[], usual: number): readonly Case[] {
  return IN_SOAK ? all : all.slice(0, usual);
}

/**
 * A part of all pairs from two lists: for each item of one list, every `every`-th item of the other, so that
 * each item of both lists is tested at least once. The soak tests every pair.
 */
export function shareOf<Item>(items: readonly Item[], turn: number, every: number): readonly Item[] {
  return IN_SOAK || every < 2 ? items : items.filter((_item, index) => (index + turn) % every === 0);
}
