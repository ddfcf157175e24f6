/** Facts of a caught value, whose type nothing guarantees. */

/** `ENOENT` of Node, `23505` of PostgreSQL; undefined without a code. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Node's own errors may be of another realm, where `instanceof Error` is false. */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return String(hasMessage ? error.message : error);
}
