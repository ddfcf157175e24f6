/** Random names and secrets. */
import { randomBytes, randomInt } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ALPHANUMERIC = `${LETTERS}0123456789`;

/** 20 lower-case characters, the first a letter, so that it can be part of database and role names (100 bits). */
export function randomId(): string {
  let id = LETTERS.charAt(randomInt(LETTERS.length));
  while (id.length < 20) id += ALPHANUMERIC.charAt(randomInt(ALPHANUMERIC.length));
  return id;
}

/** 256 random bits in base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}
