/** Reads a request's body into memory, up to a limit. For bodies that are not meant to stream. */
import type { IncomingMessage } from 'node:http';
import { httpError } from '../errors/http-errors';
import { assertNotEncoded } from './content-encoding';

/** Milliseconds without a byte after which a body counts as abandoned. */
const IDLE_LIMIT_MS = 30_000;

/**
 * @param limit bytes
 * @throws AppError 413 as soon as the limit is passed (or Content-Length announces it),
 *   400 when the client breaks off, 408 when it stops sending, 415 for a compressed body
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  assertNotEncoded(request);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    request.setTimeout(IDLE_LIMIT_MS, () => reject(httpError(408, 'The body did not arrive in time')));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        request.removeAllListeners('data');
        request.resume();
        reject(tooLarge(limit));
      } else chunks.push(chunk);
    });
    request.on('end', () => {
      request.setTimeout(0);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    });
    request.on('error', (error) => reject(httpError(400, 'The body ended early', error)));
    request.on('aborted', () => reject(httpError(400, 'The body ended early')));
  });
}

function tooLarge(limit: number): Error {
  return httpError(413, `The body is larger than ${limit} bytes`);
}
