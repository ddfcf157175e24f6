/** The slug of a bucket: the form of its name that is used in URLs. */
import { createHash } from 'node:crypto';

const COMBINING_MARKS = /[\u0300-\u036f]/g;
const MAX_LENGTH = 100;

/**
 * `Team Photos 2026!` to `team-photos-2026`. Keeps letters and digits of every script; a name without any gets a slug made from
 * its hash. The slug of a slug is the slug itself.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(COMBINING_MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, '-');
  const slug = [...plain]
    .slice(0, MAX_LENGTH)
    .join('')
    .replace(/^-+|-+$/g, '');
  if (slug !== '') return slug;
  return `bucket-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
