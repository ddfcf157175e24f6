/**
 * The boundary in the Content-Type header of a form (RFC 9110, 8.3.1 and 5.6.6; RFC 7578, 4.1). Read here, and not by busboy or
 * the package content-type: those take one of several boundaries, and the latter refuses the unquoted ones that clients send.
 */

const FORM = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i;
/** One parameter, or nothing between two semicolons. Clients also leave out quotes where the value is no token. */
const PARAMETER =
  /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)"|([^\s",;]+)))?[ \t]*/y;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** True for multipart/form-data with any parameters. */
export function isForm(contentType: string): boolean {
  return FORM.test(contentType);
}

/** Null when the header has no boundary, several, or is malformed. */
export function boundaryOf(contentType: string): string | null {
  const boundaries: string[] = [];
  let at = FORM.exec(contentType)?.[0].length ?? 0;
  while (at < contentType.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(contentType);
    if (!match) return null;
    const [all, name = '', quoted, plain = ''] = match;
    if (name.toLowerCase() === 'boundary') boundaries.push(quoted?.replace(/\\(.)/g, '$1') ?? plain);
    at += all.length;
  }
  const [boundary = ''] = boundaries;
  return boundaries.length === 1 && PRINTABLE.test(boundary) ? boundary : null;
}

/** A header for busboy that can be read in one way only. */
export function formHeader(boundary: string): string {
  return `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
}

/** The delimiter after each part of a form: CRLF, two hyphens and the boundary (RFC 2046, 5.1.1). */
export function delimiterOf(boundary: string): Buffer {
  return Buffer.from(`\r\n--${boundary}`, 'latin1');
}
