/** Status and headers that a project's SQL set in response.status and response.headers. They replace Plinth's own. */
import { parseJson } from '../../common/text/json';
import { customHeaders, isHeader } from '../execute/custom-header';
import { restError } from '../rest.errors';
import type { ResponseHeaders } from './response-headers';

/** The status in response.status; null where it is not set. @throws AppError PL112 */
export function overriddenStatus(status: string | null): number | null {
  if (status === null) return null;
  if (/^[2-5]\d\d$/.test(status.trim())) return Number(status);
  throw restError('PL112', { message: 'response.status guc must be a valid status code' });
}

/**
 * The headers in response.headers, a list of objects with one member each; null where it is not set.
 * @param slug of the project
 * @throws AppError PL111
 */
export function overriddenHeaders(text: string | null, slug: () => string): ResponseHeaders | null {
  return text === null ? null : customHeaders(headerPairs(text), slug());
}

function headerPairs(text: string): [string, string][] {
  const list = parsedList(text);
  return list.map((item): [string, string] => {
    const isObject = typeof item === 'object' && item !== null;
    const entries: [string, unknown][] = isObject ? Object.entries(item) : [];
    const [name, value] = entries[0] ?? [];
    if (entries.length !== 1 || name === undefined || !isHeader(name, value)) throw malformedHeaders();
    return [name, value];
  });
}

function parsedList(text: string): unknown[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) throw malformedHeaders();
  return value;
}

const malformedHeaders = () =>
  restError('PL111', {
    message:
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
  });
