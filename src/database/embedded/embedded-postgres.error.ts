/** A fault of the embedded PostgreSQL that an administrator can resolve; the message is one clear line. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** Returns an EmbeddedPostgresError unchanged, and wraps any other error, such as one of the file system. */
  static from(error: unknown): EmbeddedPostgresError {
    if (error instanceof EmbeddedPostgresError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new EmbeddedPostgresError(`PostgreSQL does not start: ${reason}`, { cause: error });
  }
}
