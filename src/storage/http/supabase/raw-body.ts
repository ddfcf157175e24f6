/** An upload whose body is the file itself, as storage-js sends buffers, texts and streams. */
import type { Request } from 'express';
import type { Reservation } from '../../../admission/memory-budget';
import { BodyPace, type PaceLimits } from '../../../admission/body-pace';
import { assertNotEncoded } from '../../../http/bodies/content-encoding';
import { AppError } from '../../../common/errors/app-error';
import { invalidParameters, uploadStalled } from '../../storage.errors';
import type { UploadForm } from '../../files/upload.service';

/** @param memory is released with the form @throws AppError 415 for a compressed body */
export function openRawBody(
  request: Request,
  limits: PaceLimits,
  memory: Pick<Reservation, 'release'>,
): UploadForm {
  try {
    assertNotEncoded(request);
  } catch (error) {
    memory.release();
    throw error;
  }
  let failure: Error | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    request.destroy(failure);
  };
  const pace = new BodyPace(limits, false, () => fail(uploadStalled()));

  async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        pace.take(chunk.length);
        pace.pause();
        yield chunk;
        pace.resume();
      }
    } catch (error) {
      throw error instanceof AppError ? error : invalidParameters('The upload broke off', error);
    } finally {
      pace.end();
    }
  }

  return {
    fields: new Map(),
    filename: null,
    declaredType: request.get('content-type') ?? null,
    asDeclared: true,
    bytes: bytes(),
    get failure() {
      return failure;
    },
    end: () => Promise.resolve(),
    stop: () => pace.end(),
    release: () => memory.release(),
  };
}
