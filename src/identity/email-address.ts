/** Parses, normalizes and compares e-mail addresses. */
import { isEmail } from 'class-validator';
import { domainToASCII } from 'node:url';
import { invalidEmail } from './identity.errors';

/** Characters of an address (RFC 3696, erratum 1690). */
export const MAX_EMAIL = 320;

export interface EmailAddress {
  /** As typed, without surrounding white space. */
  readonly address: string;
  /** The normalized address, by which addresses are compared. */
  readonly key: string;
  /** The domain in ASCII (`xn--...` for a Unicode domain). */
  readonly domain: string;
}

/**
 * `Ada@Bücher.example` has the key `ada@xn--bcher-kva.example`. RFC 5321 allows case-sensitive local parts, but mail
 * servers ignore case, and two accounts that differ in case only would confuse their owner.
 * @returns null if the text is not an address
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

/** @throws AppError 400 if the text is not an address */
export function getEmailAddress(text: string): EmailAddress {
  const email = parseEmailAddress(text);
  if (!email) throw invalidEmail();
  return email;
}

/** The default display name. */
export function localPart({ address }: EmailAddress): string {
  return address.slice(0, address.lastIndexOf('@'));
}

/** @param allowed the project's list of domains; an empty list allows every domain */
export function isDomainAllowed({ domain }: EmailAddress, allowed: readonly string[]): boolean {
  return allowed.length === 0 || allowed.some((one) => domainToASCII(one.toLowerCase()) === domain);
}
