/** Responses that stream a backup or a schema. */
import { Logger, applyDecorators } from '@nestjs/common';
import type { Response } from 'express';
import { ARCHIVE_TYPES, mediaTypeOf } from '../archive/compression';
import { archiveInvalid, passphraseInvalid, wrongPassphrase } from '../backup.errors';
import { bodyTooSlow } from '../../http/bodies/body.errors';
import { OutputClosedError } from '../output-closed';
import type { Compression } from '../../config/compression';
import { ApiBody, ApiConsumes, ApiHeader } from '@nestjs/swagger';
import { NOT_STORED } from '../../http/docs/documented-headers';
import { BINARY } from '../../http/docs/documented-types';
import { Errors, StreamAnswer } from '../../http/docs/operation.decorators';
import { PASSPHRASE } from './passphrase-header';

const logger = new Logger('Backup');

const ARCHIVE_CONTENT = Object.fromEntries(ARCHIVE_TYPES.map((type) => [type, null]));

/** Documents a response that is an archive. */
export const ArchiveAnswer = (): MethodDecorator =>
  applyDecorators(ApiHeader(PASSPHRASE), StreamAnswer('The archive', ARCHIVE_CONTENT, NOT_STORED, BINARY));

/** Documents a body that is an archive, and the errors that every restore has. */
export const ArchiveBody = (): MethodDecorator =>
  applyDecorators(
    ApiHeader(PASSPHRASE),
    ApiConsumes(...ARCHIVE_TYPES),
    ApiBody({ schema: BINARY }),
    Errors(wrongPassphrase(), passphraseInvalid(), archiveInvalid('it is cut off'), bodyTooSlow()),
  );

/**
 * Streams an archive. The audit log has the entry before the first byte.
 * @param what describes the archive in the log
 * @param write writes to the output that the given function opens
 */
export function sendArchive(
  what: string,
  { response, compression = 'gzip' }: { response: Response; compression?: Compression },
  audited: () => Promise<void>,
  write: (open: () => Promise<Response>, compression: Compression) => Promise<unknown>,
): Promise<void> {
  const open = async (): Promise<Response> => {
    await audited();
    response.setHeader('Content-Type', mediaTypeOf(compression));
    response.setHeader('Cache-Control', 'no-store');
    return response;
  };
  return untilSent(what, write(open, compression));
}

/**
 * Waits for the end of a response that streams. An early disconnect of the client is logged in one line.
 * @param what describes the response in the log
 */
export async function untilSent(what: string, sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
    logger.warn(`${what} was not received: the client disconnected, or read it too slowly`);
  }
}
