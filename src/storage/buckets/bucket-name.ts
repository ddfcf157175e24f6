/** Names of buckets: one line of any Unicode text. */
import { invalidParameters } from '../storage.errors';

/** Maximum bytes of UTF-8. */
const MAX_BYTES = 255;
const UNUSABLE = /[\p{Cc}\p{Surrogate}]/u;

/** @throws AppError 400 with the reason */
export function assertBucketName(name: string): void {
  if (name.trim() === '') throw invalidParameters('name must not be empty');
  if (UNUSABLE.test(name)) throw invalidParameters('name must not contain control characters');
  if (name === '.' || name === '..') throw invalidParameters('name must not be . or ..');
  if (Buffer.byteLength(name) > MAX_BYTES)
    throw invalidParameters(`name must not be longer than ${MAX_BYTES} bytes`);
}
