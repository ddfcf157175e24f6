/** Counts terms and embeds over all parameters of a request, so that many small parameters cannot exceed a limit. */
import { GrammarError } from './grammar-error';

export class Budget {
  private terms = 0;
  private embeds = 0;
  private parameters = 0;

  /** Counts one more column, filter, group or order term. @throws GrammarError PL153 */
  takeTerm(): void {
    this.terms += 1;
    if (this.terms > LIMITS.terms) throw tooMany('terms', LIMITS.terms);
  }

  /** Counts one more embed or spread. @throws GrammarError PL153 */
  takeEmbed(): void {
    this.embeds += 1;
    if (this.embeds > LIMITS.embeds) throw tooMany('embeds', LIMITS.embeds);
  }

  /** Counts one more pair of the query string. @throws GrammarError PL153 */
  takeParameter(): void {
    this.parameters += 1;
    if (this.parameters > LIMITS.parameters) throw tooMany('parameters', LIMITS.parameters);
  }
}

/** The error for exceeding a limit on a number of items. */
export function tooMany(what: string, limit: number): GrammarError {
  return new GrammarError({
    code: 'PL153',
    message: `The request has too many ${what}`,
    details: `At most ${limit} ${what} are taken.`,
  });
}

/** @throws GrammarError PL152 when `depth`, which is 0 at the root, exceeds the limit. */
export function assertDepth(depth: number): void {
  if (depth <= LIMITS.depth) return;
  throw new GrammarError({
    code: 'PL152',
    message: 'The request is nested too deeply',
    details: `At most ${LIMITS.depth} levels of embeds or logical groups are taken.`,
  });
}

/** @throws GrammarError PL151 when the text is longer than `limit`. */
export function assertLength(what: string, text: string, limit: number): void {
  if (text.length <= limit) return;
  throw new GrammarError({
    code: 'PL151',
    message: `The ${what} is too long`,
    details: `It has ${text.length} characters; at most ${limit} are taken.`,
  });
}

/**
 * Limits of text, depth and number. They keep the cost of a hostile request near the cost of a large ordinary
 * request; each parser is also linear in the length of its text. Lengths are in UTF-16 code units.
 */
export const LIMITS = {
  /** Raw query string. Servers and proxies usually limit the whole head to between 8 and 64 KiB. */
  queryLength: 65_536,
  /** Raw path segment: more than two names of 63 bytes with each byte percent-encoded. */
  targetLength: 1_024,
  /** One header's value. */
  headerLength: 8_192,
  /** Nesting of embeds in `select`, and of groups in `and`/`or`. */
  depth: 30,
  /** `name=value` pairs of the query string. */
  parameters: 1_000,
  /** Total number of columns, filters, groups and order terms. PostgreSQL itself allows 1,664 columns in a result. */
  terms: 1_600,
  /** Embedded resources and spreads, on all levels together. */
  embeds: 100,
  /** Arrows in one JSON path. */
  jsonSteps: 100,
  /** Names in one embed path, and dots in the target. */
  pathSegments: 31,
  /** Media types in Accept, preferences in Prefer. */
  headerItems: 100,
  /** Length to which a message truncates a refused text. */
  echo: 300,
} as const;
