/** The boundary of a form, as its Content-Type header gives it (RFC 9110, 8.3.1 and 5.6.6; RFC 7578, 4.1). */

const FORM = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i;
/** One parameter, or none between two semicolons. Clients leave out quotes around more than a token. */
const PARAMETER =
  /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)"|([^\s",;]+)))?[ \t]*/y;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** True for a form, whatever its parameters are. */
export function isForm(contentType: string): boolean {
  return FORM.test(contentType);
}

/** Null where there is none, more than one, or the header cannot be read to its end. */
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

/** A header that leaves nothing to be understood in another way. */
export function formHeader(boundary: string): string {
  return `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
}

/** What ends a part of a form: a line's end, two hyphens and the boundary (RFC 2046, 5.1.1). */
export function delimiterOf(boundary: string): Buffer {
  return Buffer.from(`\r\n--${boundary}`, 'latin1');
}
