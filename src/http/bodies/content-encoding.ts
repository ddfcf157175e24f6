/** Refuses compressed bodies: a small one could decompress to gigabytes. */
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error';

/** The answer's Accept-Encoding says what is accepted (RFC 9110, 15.5.16). @throws AppError 415 for a compressed body */
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
