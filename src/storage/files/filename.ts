/** Names of files: any Unicode text, with `/` as separator (DECISIONS.md 6). They never become part of a path on disk. */
import { invalidParameters } from '../storage.errors';

/** Bytes of UTF-8. */
const MAX_BYTES = 1_024;
const CONTROL = /\p{Cc}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** @throws AppError 400 with the reason */
export function assertFilename(name: string): void {
  const fault = faultOf(name);
  if (fault) throw invalidParameters(`filename ${fault}`);
}

function faultOf(name: string): string | null {
  if (name === '') return 'must not be empty';
  if (LONE_SURROGATE.test(name)) return 'must be valid Unicode';
  if (CONTROL.test(name)) return 'must not contain control characters';
  if (name.split('/').some((segment) => segment === '.' || segment === '..')) {
    return 'must not contain the segments . and ..';
  }
  if (Buffer.byteLength(name) > MAX_BYTES) return `must not be longer than ${MAX_BYTES} bytes`;
  return null;
}
