/** E-mail addresses: which ones are valid, and which ones are the same. */
import { isEmail } from 'class-validator';
import { domainToASCII } from 'node:url';

/** Characters that an address has at the most (RFC 3696, erratum 1690). */
export const MAX_EMAIL = 320;

export interface EmailAddress {
  /** As it was typed, without surrounding blanks. */
  readonly address: string;
  /** What addresses are compared by. */
  readonly key: string;
  /** The domain in ASCII (`xn--...` for Unicode ones). */
  readonly domain: string;
}

/**
 * `Ada@Bücher.example` has the key `ada@xn--bcher-kva.example`. RFC 5321 lets a local part be case-sensitive; nobody
 * relies on it, and two accounts that differ in case only would be a trap.
 * @returns null for what is no address
 */
export function parseEmailAddress(text: string): EmailAddress | null {
  const address = text.trim().normalize('NFC');
  // isEmail throws for a lone surrogate.
  if (/\p{Surrogate}/u.test(address) || !isEmail(address)) return null;
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1).toLowerCase());
  if (domain === '') return null;
  return { address, key: `${address.slice(0, at).toLowerCase()}@${domain}`, domain };
}

/** The default display name (SPEC.md 2.3). */
export function localPart({ address }: EmailAddress): string {
  return address.slice(0, address.lastIndexOf('@'));
}

/** @param allowed domains as a project lists them; none: any */
export function isDomainAllowed({ domain }: EmailAddress, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((one) => domainToASCII(one.toLowerCase()) === domain);
}
