/** The request headers that a response depends on (RFC 9110, 12.5.5): PostgREST's, and the credentials. */
export const VARY = { Vary: 'Accept, Prefer, Range, apikey, Authorization' };
