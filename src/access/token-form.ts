/**
 * Reads the header and the claims of a JWT in compact form (RFC 7519, RFC 7515), strictly. Verifies nothing:
 * passport-jwt checks the signature, TokenVerifier times and secrets.
 */
import { isJsonObject, JsonObject } from '../common/text/json';
import { storageFault } from '../common/text/storable';

/** Limit in characters, one byte each. A longer token is refused before it is decoded. */
const MAX_TOKEN_LENGTH = 8_192;

const COMPACT_FORM = /^([\w-]+)\.([\w-]+)\.[\w-]+$/;

export interface TokenForm {
  /** Names the secret; undefined if the header has none. */
  readonly kid: string | undefined;
  readonly claims: JsonObject;
  /** The claims as they were signed: numbers beyond 2^53 keep all their digits there. */
  readonly claimsText: string;
}

/** Null for text that is not a JWT, for claims that PostgreSQL cannot store, and for unknown critical headers. */
export function readToken(token: string): TokenForm | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const [, first, second] = COMPACT_FORM.exec(token) ?? [];
  const header = readObject(first);
  const payload = readObject(second);
  if (!header || !payload || !isKnownHeader(header.value)) return null;
  if (storageFault('claims', payload.value) !== null) return null;
  const { kid } = header.value;
  return { kid, claims: payload.value, claimsText: payload.text };
}

/**
 * RFC 7515, 4.1.11: a header with extensions that must be understood is refused, and Plinth understands none. RFC 7797, 6:
 * so is a payload that is not encoded. Keys and addresses of keys (`jwk`, `jku`, `x5u`) are ignored.
 */
function isKnownHeader(header: JsonObject): header is JsonObject & { kid?: string } {
  const { kid, typ, crit, b64 } = header;
  const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
  return isText(kid) && isText(typ) && crit === undefined && (b64 === undefined || b64 === true);
}

/** A segment as the JSON object that it encodes; null for anything else. */
function readObject(segment: string | undefined): { text: string; value: JsonObject } | null {
  if (segment === undefined) return null;
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(Buffer.from(segment, 'base64url'));
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && countMembers(text) === Object.keys(value).length ? { text, value } : null;
  } catch {
    return null;
  }
}

/** Number of members of the outermost object, duplicate names included: parsers differ in which duplicate they take. */
function countMembers(json: string): number {
  let depth = 0;
  let members = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (token === ':' && depth === 1) members += 1;
  }
  return members;
}
