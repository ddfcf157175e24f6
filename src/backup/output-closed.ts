/** Recognises a reader that disconnects during a backup, which is not a failure of the server. */
import type { Writable } from 'node:stream';

/** The reader of an archive or a schema closed its end before everything was sent. */
export class OutputClosedError extends Error {
  constructor(cause: unknown) {
    super('the connection was closed before everything was sent', { cause });
    this.name = 'OutputClosedError';
  }
}

/** True when the other end closed the output; an output that failed or was destroyed here has an error. */
export function isClosedByReader({ destroyed, errored }: Writable): boolean {
  return destroyed && !errored;
}
