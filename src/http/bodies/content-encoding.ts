/** Bodies are read as they come: none is unpacked, so a small one that unpacks to gigabytes does no harm. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error';

/** RFC 9110, 15.5.16: the answer tells what would be read. @throws AppError 415 for a compressed body */
export function assertNotEncoded({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'];
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (!coding || !hasBody || coding.toLowerCase() === 'identity') return;
  throw new AppError({
    status: 415,
    code: 'unsupported_media_type',
    message: `A body with Content-Encoding ${coding} is not read here: send it without one`,
    headers: { 'Accept-Encoding': 'identity' },
    database: { sqlstate: 'PL415' },
  });
}
