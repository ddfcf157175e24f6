/** An account at a provider, as its claims describe it. A stranger's input: every member is checked. */
import { type JsonObject } from '../../common/text/json';
import type { DirectoryUser } from '../../identity/directories/attribute-mapping';
import { type EmailAddress, parseEmailAddress } from '../../identity/email-address';
import { claimsTooLarge } from '../auth.errors';

/** Characters. */
const MAX_SUBJECT = 255;
const MAX_NAME = 200;
const MAX_LINK = 2_000;
/** Bytes of custom claims: each token has them. */
const MAX_CUSTOM_CLAIMS = 1_024;

export interface ProviderIdentity {
  /** Name of the provider. */
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  readonly email: EmailAddress | null;
  /** True only if the provider says so. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  /** `identity_data` of the answers. */
  readonly data: JsonObject;
  /** Claims from a directory, which are stored in `app_metadata.custom_claims` at each sign-in. */
  readonly customClaims?: JsonObject;
}

/** @param claims with `iss` and `sub` @throws Error for a subject that cannot be stored */
export function toProviderIdentity(provider: string, claims: JsonObject): ProviderIdentity {
  const { iss, sub, email_verified: verified } = claims;
  const subject = typeof sub === 'number' ? String(sub) : sub;
  if (typeof subject !== 'string' || typeof iss !== 'string' || !isStorable(subject))
    throw new Error('the subject of the identity cannot be stored');
  const email = typeof claims.email === 'string' ? parseEmailAddress(claims.email) : null;
  const isEmailVerified = email !== null && verified === true;
  const name = textOf(claims.name, MAX_NAME);
  const userName = textOf(claims.preferred_username ?? claims.nickname, MAX_NAME);
  const picture = linkOf(claims.picture);
  const data = {
    iss,
    sub: subject,
    provider_id: subject,
    email: email?.address,
    email_verified: isEmailVerified,
    phone_verified: false,
    name: name ?? undefined,
    full_name: name ?? undefined,
    preferred_username: userName ?? undefined,
    user_name: userName ?? undefined,
    picture,
    avatar_url: picture,
  };
  const given = Object.entries(data).filter(([, value]) => value !== undefined);
  return {
    provider,
    issuer: iss,
    subject,
    email,
    isEmailVerified,
    name: name ?? userName,
    data: Object.fromEntries(given) as JsonObject,
  };
}

/** @throws Error for a subject that cannot be stored, AppError 403 for too large claims */
export function fromDirectory(
  provider: string,
  { issuer, subject, personal, custom }: DirectoryUser,
): ProviderIdentity {
  if (Buffer.byteLength(JSON.stringify(custom)) > MAX_CUSTOM_CLAIMS) throw claimsTooLarge(MAX_CUSTOM_CLAIMS);
  const identity = toProviderIdentity(provider, { ...personal, iss: issuer, sub: subject });
  return { ...identity, customClaims: custom };
}

function isStorable(text: string): boolean {
  return text !== '' && text.length <= MAX_SUBJECT && !/\p{Cc}/u.test(text) && text.isWellFormed();
}

function textOf(value: unknown, most: number): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll(/\p{Cc}/gu, ' ').trim();
  return text === '' ? null : text.toWellFormed().slice(0, most).toWellFormed();
}

function linkOf(value: unknown): string | undefined {
  const isLink = typeof value === 'string' && value.length <= MAX_LINK && URL.canParse(value);
  return isLink && new URL(value).protocol === 'https:' ? new URL(value).href : undefined;
}
