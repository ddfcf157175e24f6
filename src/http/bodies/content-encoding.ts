/** Refuses compressed bodies: a small body could decompress to gigabytes. */
import type { IncomingMessage } from 'node:http';
import { bodyIsEncoded } from './body.errors';

/** @throws AppError 415 for a compressed body */
export function assertNotEncoded({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'];
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (!coding || !hasBody || coding.toLowerCase() === 'identity') return;
  throw bodyIsEncoded(coding);
}
