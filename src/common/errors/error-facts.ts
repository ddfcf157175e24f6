/** Reads members of a caught value, whose type nothing guarantees. */

/** `ENOENT` of Node, `23505` of PostgreSQL; undefined without a code. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** `AbortError`, `NoSuchKey`; undefined without a name. */
export function nameOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('name' in error)) return undefined;
  return typeof error.name === 'string' ? error.name : undefined;
}

/** The error that led to this one (ECMAScript's `cause`); undefined without one. */
export function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}

/** True for an error of a call to the operating system, such as one of the file system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    typeof error === 'object' && error !== null && 'syscall' in error && typeof error.syscall === 'string'
  );
}

/** Node's own errors may be of another realm, where `instanceof Error` is false. */
export function messageOf(error: unknown): string {
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  return String(hasMessage ? error.message : error);
}

/** True for a certificate that is refused, or another failure of TLS (Node's manual, "X509 certificate error codes"). */
export const isTlsFault = (error: unknown): boolean =>
  /^(ERR_TLS|CERT_|DEPTH_|UNABLE_|SELF_SIGNED|ERR_SSL|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/.test(
    codeOf(error) ?? '',
  );
