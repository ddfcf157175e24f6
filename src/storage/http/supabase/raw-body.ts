/** An upload whose body is the file itself, as storage-js sends buffers, texts and streams. */
import type { Request } from 'express';
import { pacedBody, type PaceLimits } from '../../../admission/body-pace';
import type { Reservation } from '../../../admission/memory-budget';
import { AppError } from '../../../common/errors/app-error';
import { assertNotEncoded } from '../../../http/bodies/content-encoding';
import { formOfBytes, type UploadForm } from '../../files/upload';
import { invalidParameters } from '../../storage.errors';

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
  const type = request.get('content-type') ?? null;
  return formOfBytes(readBytes(request, limits), type, { release: () => memory.release() });
}

/** @throws AppError 400 if the client disconnects early, 408 if it is too slow */
export async function* readBytes(
  request: Request,
  limits: PaceLimits,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* pacedBody(request, limits);
  } catch (error) {
    throw error instanceof AppError ? error : invalidParameters('The upload was interrupted', error);
  }
}
