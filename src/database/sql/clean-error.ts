/** Error texts of a project's database, in which its owner's SQL may write anything. */
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

/** Control characters but tab and line feed, and those that reverse the text behind them: a terminal obeys them. */
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces what is no text in the fields of an error. Their length is bounded on the wire (pools/message-limiter.ts). */
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
