/** How many cases of a long list a run takes: `npm run soak` takes all of them, `npm test` the first ones. */
export const IN_SOAK = process.env.PLINTH_SOAK === '1';

/** @param usual number of cases in `npm test`; the most telling ones come first */
export function casesOf<Case>(all: readonly Case[], usual: number): readonly Case[] {
  return IN_SOAK ? all : all.slice(0, usual);
}
