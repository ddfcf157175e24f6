/** Headers of responses. */

export type ResponseHeaders = Record<string, string | string[]>;

/** The request headers that a response depends on (RFC 9110, 12.5.5); PostgREST's value. */
export const VARY = { Vary: 'Accept, Prefer, Range' };
