/** The Content-Disposition header (RFC 6266) with a name that may hold anything. */

const MAX_FALLBACK = 100;

/** Whether a browser shows it, or saves it. */
export type Disposition = 'inline' | 'attachment';

/**
 * `attachment; filename="resume.pdf"; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf`. Only the last segment of a name with slashes
 * is given, because clients make a path of it otherwise.
 */
export function contentDisposition(kind: Disposition, name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1) || 'file';
  const fallback = asciiOf(last);
  const plain = `${kind}; filename="${fallback}"`;
  return fallback === last ? plain : `${plain}; filename*=UTF-8''${encodeExtValue(last)}`;
}

/** The name as a quoted string that all clients read alike: without quotes, escapes and percent signs. */
function asciiOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  return plain.slice(0, MAX_FALLBACK);
}

/** attr-char of RFC 8187, 3.2.1; encodeURIComponent leaves a few more unescaped. */
function encodeExtValue(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
