/** Recovery codes: each replaces a code of the second factor once. */
import { randomInt } from 'node:crypto';
import { hashToken } from '../secret-token';

const COUNT = 10;
const GROUPS = 4;
const GROUP_LENGTH = 4;
/** Without characters that are easily mistaken for others: 79 bits in 16 of them. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Codes such as `k7mp-2xqa-9fht-w3ce`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, () => Array.from({ length: GROUPS }, newGroup).join('-'));
}

/** Ignores case, hyphens and white space, which users add and leave out. */
export function hashRecoveryCode(code: string): Buffer {
  return hashToken(`recovery:${code.toLowerCase().replace(/[\s-]/g, '')}`);
}

function newGroup(): string {
  return Array.from({ length: GROUP_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}
