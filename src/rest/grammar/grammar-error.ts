/**
 * The error for text that the grammar refuses, and the list of its codes. `PL1xx` below 150 means the same as
 * PostgREST's `PGRST1xx`, so that clients can keep their tables of codes; codes from 150 on are Plinth's own.
 */
import { AppError } from '../../common/errors/app-error';

export interface GrammarErrorEntry {
  /** The HTTP status of a response with this code. */
  readonly status: 400 | 404 | 405 | 416;
  /** A line for the documentation. */
  readonly meaning: string;
}

export const GRAMMAR_ERRORS = {
  PL100: { status: 400, meaning: 'A query parameter does not parse; the message has the line and column.' },
  PL101: {
    status: 405,
    meaning: 'A function is called with a method other than GET, HEAD, POST or OPTIONS.',
  },
  PL103: { status: 416, meaning: 'The Range header or limit asks for an impossible range.' },
  PL114: { status: 400, meaning: 'PUT, which writes one row, is called with limit or offset.' },
  PL117: { status: 405, meaning: 'The HTTP method is not supported.' },
  PL125: { status: 404, meaning: 'The path names no table or function.' },
  PL150: {
    status: 400,
    meaning: 'Percent-encoding or UTF-8 in the URL is broken, or it holds a NUL character.',
  },
  PL151: { status: 400, meaning: 'The query string, path or a header is too long.' },
  PL152: { status: 400, meaning: 'Embeds or logical groups are nested too deeply.' },
  PL153: { status: 400, meaning: 'Too many parameters, terms, embeds or steps of a JSON path.' },
} as const satisfies Readonly<Record<string, GrammarErrorEntry>>;

export type GrammarErrorCode = keyof typeof GRAMMAR_ERRORS;

interface GrammarErrorOptions {
  readonly code: GrammarErrorCode;
  readonly message: string;
  readonly details?: string;
  readonly hint?: string;
}

/** RFC 9110, 15.5.6: a 405 lists the allowed methods. */
const ALLOWED: Readonly<Partial<Record<GrammarErrorCode, string>>> = {
  PL101: 'OPTIONS, GET, HEAD, POST',
  PL117: 'OPTIONS, GET, HEAD, POST, PUT, PATCH, DELETE',
};

/** A request whose text was refused. */
export class GrammarError extends AppError {
  constructor({ code, message, details, hint }: GrammarErrorOptions) {
    const allowed = ALLOWED[code];
    super(GRAMMAR_ERRORS[code].status, code, message, {
      database: { sqlstate: code, detail: details ?? null, hint: hint ?? null },
      headers: allowed === undefined ? {} : { Allow: allowed },
    });
  }
}
