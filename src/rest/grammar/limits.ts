/**
 * Limits of text, depth and number. They keep the cost of a hostile request near that of a large ordinary one;
 * each parser is also linear in the length of its text. Lengths are in UTF-16 code units.
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
  /** Columns, filters, groups and order terms together. PostgreSQL itself allows 1,664 columns in a result. */
  terms: 1_600,
  /** Embedded resources and spreads, on all levels together. */
  embeds: 100,
  /** Arrows in one JSON path. */
  jsonSteps: 100,
  /** Names in one embed path, and dots in the target. */
  pathSegments: 31,
  /** Media types in Accept, preferences in Prefer. */
  headerItems: 100,
  /** Length to which a message shortens a refused text. */
  echo: 300,
} as const;
