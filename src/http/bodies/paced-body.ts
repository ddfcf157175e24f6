/** A body that streams, under the limits of body-pace.ts. */
import type { IncomingMessage } from 'node:http';
import { httpError } from '../../common/errors/http-errors';
import { BodyPace, type PaceLimits } from './body-pace';

/**
 * Yields the chunks of a body. Ending the iteration early leaves the connection open for the response.
 * @throws AppError 408 when the body arrives too slowly, Error when the client breaks off
 */
export async function* pacedBody(
  request: IncomingMessage,
  limits: PaceLimits,
): AsyncGenerator<Buffer, void, undefined> {
  const onTooSlow = (): void => void request.destroy(httpError(408, 'The body arrives too slowly'));
  const pace = new BodyPace(limits, false, onTooSlow);
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of chunks) {
      pace.take(chunk.length);
      pace.pause();
      yield chunk;
      pace.resume();
    }
  } finally {
    pace.end();
  }
}
