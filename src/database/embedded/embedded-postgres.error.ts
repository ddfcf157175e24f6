/** A fault of the embedded PostgreSQL that an administrator can mend; the message is one clear line. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  /** Anything thrown as an EmbeddedPostgresError: itself, or one with its message, such as what the file system said. */
  static from(error: unknown): EmbeddedPostgresError {
    if (error instanceof EmbeddedPostgresError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    return new EmbeddedPostgresError(`PostgreSQL does not start: ${reason}`, { cause: error });
  }
}
