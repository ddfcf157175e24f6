/** The text that explains an error code, for the most frequent codes. */
const MEANINGS = {
  '22P02': 'meaning_22P02',
  '23502': 'meaning_23502',
  '23503': 'meaning_23503',
  '23505': 'meaning_23505',
  '23514': 'meaning_23514',
  '42501': 'meaning_42501',
  '42703': 'meaning_42703',
  '42883': 'meaning_42883',
  '42P01': 'meaning_42P01',
  '57014': 'meaning_57014',
  PL116: 'meaning_PL116',
  PL202: 'meaning_42883',
  PL204: 'meaning_42703',
  PL205: 'meaning_42P01',
  rate_limited: 'meaning_rate_limited',
  unauthorized: 'meaning_unauthorized',
} as const;

export type Meaning = (typeof MEANINGS)[keyof typeof MEANINGS];

/** Null for a self-explanatory code, such as `bucket_not_found`. */
export const meaningOf = (code: string): Meaning | null =>
  Object.hasOwn(MEANINGS, code) ? MEANINGS[code as keyof typeof MEANINGS] : null;
