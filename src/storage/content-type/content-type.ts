/** Determines a file's content type: from the content, and from the declared type only if the content does not reveal it. */
import { invalidParameters } from '../storage.errors';
import { RECOGNISABLE } from './signatures';
import { Evidence } from './sniff';

export const UNKNOWN_TYPE = 'application/octet-stream';
const PLAIN = 'text/plain';
const MAX_LENGTH = 255;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** A media type (RFC 9110, 8.3.1), in ASCII, because it is sent in a header. */
const MEDIA_TYPE = new RegExp(
  `^(${TOKEN}/${TOKEN})((?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[\\t !#-[\\]-~]*"))*)$`,
);

/** Types of text, including those that do not begin with text/. */
const TEXTUAL =
  /^(text\/.*|application\/(.*\+)?(json|xml|yaml)|application\/(javascript|ecmascript|x-\w+script|toml|sql|graphql|x-ndjson|x-yaml|x-sh|x-tex|ld\+json)|image\/svg\+xml)$/;

/** @param name the parameter that the error names @returns the type in lower case, with its parameters @throws AppError 400 for text that is not a media type */
export function parseContentType(text: string, name = 'contentType'): string {
  const [, essence, parameters = ''] = text.length <= MAX_LENGTH ? (MEDIA_TYPE.exec(text.trim()) ?? []) : [];
  if (essence === undefined) throw invalidParameters(`${name} must be a MIME type such as image/png`);
  return `${essence.toLowerCase()}${parameters.trim()}`;
}

/** True for a valid value of a Content-Type header. */
export function isContentType(text: string): boolean {
  return text.length <= MAX_LENGTH && MEDIA_TYPE.test(text);
}

/** `text/plain;charset=utf-8` to `text/plain`. */
export function essenceOf(type: string): string {
  const [essence = ''] = type.split(';', 1);
  return essence.trim().toLowerCase();
}

/** @param declared by the client, or null; application/octet-stream, the clients' default, is treated as null */
export function resolveContentType(evidence: Evidence, declared: string | null): string {
  const claim = declared !== null && essenceOf(declared) !== UNKNOWN_TYPE ? declared : null;
  const essence = claim === null ? '' : essenceOf(claim);
  switch (evidence.kind) {
    case 'certain':
      return essence === evidence.type ? (claim ?? evidence.type) : evidence.type;
    case 'likely':
      return claim !== null && TEXTUAL.test(essence) ? claim : evidence.type;
    case 'text':
      return claim === null || RECOGNISABLE.has(essence) ? PLAIN : claim;
    case 'none':
      // If the content were of a recognisable type, it would have been recognised, so the declaration is wrong.
      return claim === null || RECOGNISABLE.has(essence) ? UNKNOWN_TYPE : claim;
  }
}

/** True when a bucket accepts the type. @param allowed types and patterns such as `image/*`; null: any type */
export function isAllowed(type: string, allowed: readonly string[] | null): boolean {
  if (allowed === null) return true;
  const essence = essenceOf(type);
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase();
    if (pattern === '*/*' || pattern === '*') return true;
    return pattern.endsWith('/*') ? essence.startsWith(pattern.slice(0, -1)) : essence === pattern;
  });
}

/** The types and patterns that both lists accept; null: any type. */
export function commonTypes(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  return [
    ...one.filter((entry) => isAllowed(entry, other)),
    ...other.filter((entry) => isAllowed(entry, one)),
  ];
}
