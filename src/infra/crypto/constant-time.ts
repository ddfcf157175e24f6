/** Compares secrets in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Hashes both first, so that the time does not depend on their lengths. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
