/** Cleans error texts of a project's database, which the owner's SQL can choose. */
import { DatabaseError } from 'pg';

const TEXTS = [
  'message',
  'detail',
  'hint',
  'where',
  'schema',
  'table',
  'column',
  'constraint',
  'dataType',
  'internalQuery',
] as const;

/** Control characters except tab and line feed, and characters that reverse text: a terminal would obey them. */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Replaces unprintable characters in an error's fields. The wire limits their length
 * (pg-pipeline/message-limiter.ts).
 */
export function cleanError(error: Error): Error {
  if (!(error instanceof DatabaseError)) return error;
  for (const field of TEXTS) {
    const text = error[field];
    if (text !== undefined) error[field] = cleanText(text);
  }
  return error;
}

export function cleanText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNPRINTABLE, '\ufffd');
}
