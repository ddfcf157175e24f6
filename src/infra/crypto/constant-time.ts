/** Comparison of secrets that takes the same time wherever they differ. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Hashes both sides first, so that lengths do not show either. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
