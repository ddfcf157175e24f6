/** The token of an `Authorization: Bearer` header (RFC 6750, 2.1). */

const BEARER = /^bearer +([\w.~+/=-]+)$/i;

/** Null when the header is missing or of another scheme. */
export function bearerToken(header: string | undefined): string | null {
  return BEARER.exec(header?.trim() ?? '')?.[1] ?? null;
}
