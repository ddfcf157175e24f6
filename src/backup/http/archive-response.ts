/** Responses that stream a backup or a schema. */
import { Logger } from '@nestjs/common';
import type { Response } from 'express';
import { ARCHIVE_TYPES, mediaTypeOf } from '../archive/compression';
import { OutputClosedError } from '../output-closed';
import type { Compression } from '../../config/compression';

const logger = new Logger('Backup');

export const ARCHIVE = { type: 'string', format: 'binary' } as const;
/** Of a response in the OpenAPI document. */
export const ARCHIVE_CONTENT = Object.fromEntries(ARCHIVE_TYPES.map((type) => [type, { schema: ARCHIVE }]));

/** Sets the headers of a response that is an archive. @returns the response */
export function archiveIn(response: Response, compression: Compression = 'gzip'): Response {
  response.setHeader('Content-Type', mediaTypeOf(compression));
  response.setHeader('Cache-Control', 'no-store');
  return response;
}

/**
 * Waits for the end of a response that streams. A client that leaves before gets one line in the log.
 * @param what the response is, for the log
 */
export async function untilSent(what: string, sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
    logger.warn(`${what} was not received: the client disconnected, or read it too slowly`);
  }
}
