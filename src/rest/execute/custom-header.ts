/** The headers that a project's SQL may set: none that frame the message or concern others on the same host. */
import { setsStaffCookie } from '../../http/staff-cookie';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/;
/** Visible characters, blanks and Latin-1: nothing that could end the header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that say where the message ends (RFC 9110, 7.6.1 and RFC 9112, 6). A wrong one desynchronizes a proxy for all clients. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Empties what browsers keep for the host: the session at the administration as well. */
const CLEARING = 'clear-site-data';

/** RFC 9112, 4, without the bytes beyond ASCII, which each client reads in its own way. */
const REASON_PHRASE = /^[\t\x20-\x7e]+$/;

/** Whether HTTP/1.1 can carry the text beside a status. */
export function isReasonPhrase(text: unknown): text is string {
  return typeof text === 'string' && REASON_PHRASE.test(text);
}

/** Whether HTTP can carry the header at all. */
export function isHeader(name: string, value: unknown): value is string {
  return HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
}

/** True for headers that only Plinth sets. */
export function isReserved(name: string, value: string): boolean {
  const lower = name.toLowerCase();
  return FRAMING.has(lower) || lower === CLEARING || setsStaffCookie(name, value);
}
