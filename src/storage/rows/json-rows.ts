/**
 * A list as the JSON text that was printed from PostgreSQL's rows. Rows of large lists are neither parsed nor printed a second
 * time: storage-envelope.interceptor.ts copies these bytes into the response body, and nothing else writes them.
 */
export class JsonRows {
  /** @param pieces JSON objects separated by commas, split at any byte */
  constructor(readonly pieces: readonly Buffer[]) {}
}
