/** The claims of the issuer about an account, as far as Plinth reads them. A stranger's input: every member is checked. */
import { type JsonObject, memberAt } from '../../common/text/json';
import type { DirectoryUser } from '../directories/attribute-mapping';

/** Methods of authentication that are or imply a second factor (RFC 8176, 2). */
const SECOND_FACTORS = ['mfa', 'otp', 'hwk', 'sc'];
const MAX_NAME = 200;
const MAX_GROUPS = 1_000;

export interface IssuedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** Null if the issuer gives none. */
  readonly email: string | null;
  /** Null if the issuer does not state it. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  /** True if the issuer asked for a second factor. */
  readonly hasSecondFactor: boolean;
}

/**
 * @param claims the claims of the verified ID token (`iss` and `sub` are texts), and of the userinfo endpoint
 * @param groupsClaim a name, or a path with dots
 */
export function toIssuedIdentity(claims: JsonObject, groupsClaim: string): IssuedIdentity {
  const { iss, sub, email, email_verified: verified, amr } = claims;
  return {
    issuer: iss as string,
    subject: sub as string,
    email: typeof email === 'string' ? email : null,
    emailVerified: typeof verified === 'boolean' ? verified : null,
    name: nameIn(claims),
    groups: textsIn(memberAt(claims, groupsClaim)),
    hasSecondFactor: textsIn(amr).some((method) => SECOND_FACTORS.includes(method)),
  };
}

/**
 * Like toIssuedIdentity(), for a directory. An address that it does not prove counts as an address whose proof is unknown.
 * @param way distinguishes its issuers from those of OpenID Connect @throws Error for a subject that cannot be stored
 */
export function toDirectoryIdentity(
  way: string,
  { issuer, subject, personal, custom }: DirectoryUser,
): IssuedIdentity {
  if (!/^[^\p{Cc}\p{Surrogate}]{1,255}$/u.test(subject)) throw new Error('the subject cannot be stored');
  const verified = personal.email_verified === true ? true : null;
  const claims = { ...personal, iss: `${way}:${issuer}`, sub: subject, email_verified: verified };
  return toIssuedIdentity({ ...claims, groups: custom.groups ?? [] }, 'groups');
}

export const hasClaim = (claims: JsonObject, path: string): boolean => memberAt(claims, path) !== undefined;

function nameIn({ name, preferred_username: username }: JsonObject): string | null {
  const found = [name, username].find((text) => typeof text === 'string' && text.trim() !== '');
  // PostgreSQL cannot store NUL, nor UTF-8 a lone surrogate.
  return typeof found === 'string'
    ? found.replaceAll('\0', '').toWellFormed().slice(0, MAX_NAME).toWellFormed()
    : null;
}

function textsIn(value: unknown): string[] {
  return [value]
    .flat()
    .slice(0, MAX_GROUPS)
    .filter((one) => typeof one === 'string');
}
