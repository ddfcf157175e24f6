/** Users, sessions and factors in the format of GoTrue's clients. */
import { JsonObject } from '../../../common/text/json';
import { Project } from '../../../projects/project';
import { Account } from '../../accounts/account';
import type { Identity } from '../../accounts/identity';
import { AccountDetails } from '../../factors/account-details.repository';
import { Factor } from '../../factors/factor';
import { appMetadata } from '../../sessions/access-token.service';
import type {
  GoTrueFactorResponse,
  GoTrueIdentityResponse,
  GoTrueUserResponse,
} from './dto/gotrue-responses';

const isoOf = (date: Date | null | undefined): string | undefined => date?.toISOString();

export function toGoTrueUser(
  project: Project,
  { account, factors, identities, pending }: AccountDetails,
): GoTrueUserResponse {
  const confirmed = isoOf(confirmedAt(project, account));
  const { email_change: change, verify, reset, reauthentication } = pending;
  return withoutUndefined({
    id: account.id,
    aud: 'authenticated',
    role: 'authenticated',
    email: account.email,
    email_confirmed_at: confirmed,
    invited_at: isoOf(account.invitedAt),
    phone: account.phone ?? '',
    phone_confirmed_at: isoOf(account.phoneVerifiedAt),
    confirmation_sent_at: isoOf(verify?.sentAt),
    confirmed_at: confirmed ?? isoOf(account.phoneVerifiedAt),
    recovery_sent_at: isoOf(reset?.sentAt),
    new_email: change?.email,
    email_change_sent_at: isoOf(change?.sentAt),
    reauthentication_sent_at: isoOf(reauthentication?.sentAt),
    last_sign_in_at: isoOf(account.lastSignInAt),
    app_metadata: appMetadata(account),
    user_metadata: account.data,
    factors: factors.length > 0 ? factors.map(toGoTrueFactor) : undefined,
    identities: [...toEmailIdentities(account), ...identities.map(toGoTrueIdentity)],
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    banned_until: isoOf(account.bannedUntil),
    is_anonymous: account.isAnonymous,
  });
}

/**
 * Where addresses need no verification, GoTrue confirms them at the sign-up, and applications read the time. Whether the address
 * was proved is in `identity_data.email_verified`.
 */
function confirmedAt({ settings }: Project, account: Account): Date | null {
  const { email, emailVerifiedAt, lastSignInAt, createdAt } = account;
  const isConfirmed = !settings.email_verification_required && email !== '' && lastSignInAt !== null;
  return emailVerifiedAt ?? (isConfirmed ? createdAt : null);
}

/** The account without its factors, its identities at providers and its mails, which the answer does not show. */
export const toPlainUser = (project: Project, account: Account): GoTrueUserResponse =>
  toGoTrueUser(project, { account, factors: [], identities: [], pending: {} });

export function toGoTrueFactor({
  id,
  kind,
  name,
  createdAt,
  verifiedAt,
  lastUsedAt,
}: Factor): GoTrueFactorResponse {
  return {
    id,
    friendly_name: name,
    factor_type: kind,
    status: verifiedAt ? 'verified' : 'unverified',
    created_at: createdAt.toISOString(),
    updated_at: (lastUsedAt ?? verifiedAt ?? createdAt).toISOString(),
  };
}

function toGoTrueIdentity(identity: Identity): GoTrueIdentityResponse {
  const { id, userId, provider, subject, data } = identity;
  return {
    identity_id: id,
    id: subject,
    user_id: userId,
    identity_data: data,
    provider,
    last_sign_in_at: isoOf(identity.lastSignInAt) ?? null,
    created_at: identity.createdAt.toISOString(),
    updated_at: identity.updatedAt.toISOString(),
    email: typeof data.email === 'string' ? data.email : '',
  };
}

/** An identity for the account's email address, with the account's id; none for anonymous accounts, and accounts that sign in through providers only. */
function toEmailIdentities({ id, email, ...account }: Account): GoTrueIdentityResponse[] {
  const { providers } = appMetadata({ email, ...account });
  if (account.isAnonymous || email === '' || (Array.isArray(providers) && !providers.includes('email')))
    return [];
  const data: JsonObject = {
    sub: id,
    email,
    email_verified: account.emailVerifiedAt !== null,
    phone_verified: false,
  };
  return [
    {
      identity_id: id,
      id,
      user_id: id,
      identity_data: data,
      provider: 'email',
      last_sign_in_at: isoOf(account.lastSignInAt) ?? null,
      created_at: account.createdAt.toISOString(),
      updated_at: account.updatedAt.toISOString(),
      email,
    },
  ];
}

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
