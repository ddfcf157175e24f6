/**
 * A list as the JSON text that was printed from PostgreSQL's rows. The rows of large lists are never parsed, and printed
 * only once: storage-envelope.interceptor.ts copies these bytes into the response body, and no other code writes them.
 */
export class JsonRows {
  /** @param pieces JSON objects separated by commas, split at any byte */
  constructor(readonly pieces: readonly Buffer[]) {}
}
