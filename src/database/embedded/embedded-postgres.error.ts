/** A fault of the embedded PostgreSQL that whoever runs Plinth can act on; the message is one clear line. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
