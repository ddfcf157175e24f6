/**
 * The Content-Disposition header (RFC 6266) for any filename. Only the encoding is the library's: its create() drops the quotes
 * around a name that is a token, which would change the header that clients get today.
 */
import { encodeExtended } from 'content-disposition';

const MAX_FALLBACK = 100;

/** Whether a browser displays the file or saves it. */
export type Disposition = 'inline' | 'attachment';

/**
 * `attachment; filename="resume.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`. Sends only the last segment of a name with
 * slashes, because clients would interpret it as a path.
 */
export function contentDisposition(kind: Disposition, name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1) || 'file';
  const fallback = asciiOf(last);
  const plain = `${kind}; filename="${fallback}"`;
  return fallback === last ? plain : `${plain}; filename*=${encodeExtended(last.toWellFormed())}`;
}

/** A form of the name that every client reads alike in a quoted string: no quotes, escapes or percent signs. */
function asciiOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  return plain.slice(0, MAX_FALLBACK);
}
