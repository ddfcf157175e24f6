/**
 * Errors that a project raises on purpose to choose the answer: SQLSTATE `PTxyz` gives the status xyz, `PGRST` the whole
 * answer as JSON in MESSAGE and DETAIL (PostgREST reference, "Raise errors with HTTP Status Codes").
 */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { isJsonObject, type JsonObject, parseJson } from '../../common/text/json';
import { restError } from '../rest.errors';
import { customHeaders, isHeader, isReasonPhrase } from '../respond/response-headers';

/** The error that the project raised; null for any other error. @param slug of the project */
export function raisedError(error: DatabaseError, slug: string): AppError | null {
  const { code = '' } = error;
  if (code === 'PGRST') return fromJson(error, slug);
  const status = /^PT([2-5]\d\d)$/.exec(code)?.[1];
  if (status === undefined) return null;
  return new AppError(Number(status), code, error.message, {
    database: {
      sqlstate: code,
      detail: error.detail ?? null,
      hint: error.hint ?? null,
      constraint: error.constraint ?? null,
      column: error.column ?? null,
    },
  });
}

function fromJson(error: DatabaseError, slug: string): AppError {
  const message = objectIn(error.message);
  const detail = objectIn(error.detail);
  const status = detail?.status;
  if (!message || typeof message.code !== 'string' || typeof message.message !== 'string') {
    return malformed(`Invalid JSON value for MESSAGE: '${error.message}'`, MESSAGE_HINT);
  }
  if (!detail || !isFinalStatus(status)) {
    return malformed(
      error.detail === undefined
        ? 'DETAIL is missing in the RAISE statement'
        : `Invalid JSON value for DETAIL: '${error.detail}'`,
      DETAIL_HINT,
    );
  }
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return new AppError(status, message.code, message.message, {
    statusText: isReasonPhrase(detail.status_text) ? detail.status_text : undefined,
    database: { sqlstate: message.code, detail: text(message.details), hint: text(message.hint) },
    headers: headersOf(detail.headers, slug),
  });
}

/** A 1xx status is not final: the client would keep waiting. */
function isFinalStatus(status: unknown): status is number {
  return typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599;
}

const MESSAGE_HINT =
  "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.";
const DETAIL_HINT =
  "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.";

function malformed(detail: string, hint: string): AppError {
  return restError('PL121', {
    message: 'Could not parse JSON in the "RAISE SQLSTATE \'PGRST\'" error',
    detail,
    hint,
  });
}

function objectIn(text = ''): JsonObject | null {
  const value = parseJson(text);
  return isJsonObject(value) ? value : null;
}

function headersOf(value: unknown, slug: string): Record<string, string> {
  if (!isJsonObject(value)) return {};
  const pairs = Object.entries(value).filter((entry): entry is [string, string] => isHeader(...entry));
  const headers = Object.entries(customHeaders(pairs, slug));
  return Object.fromEntries(headers.map(([name, values]) => [name, [values].flat().join(', ')]));
}
