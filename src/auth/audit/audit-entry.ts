/** Entries of the audit trail: who did what, from where and when. An entry never holds a secret. */
import { JsonObject } from '../../common/text/json';
import { RequestOrigin } from '../../identity/request-origin';

export const AUDIT_ACTIONS = [
  'sign_up',
  'sign_in',
  'sign_in_failed',
  'sign_out',
  'session_revoked',
  'refresh_token_reused',
  'reset_requested',
  'password_updated',
  'verification_requested',
  'email_verified',
  'magic_link_requested',
  'reauthentication_requested',
  'email_change_requested',
  'profile_updated',
  'factor_enrolled',
  'factor_verified',
  'factor_used',
  'factor_failed',
  'factor_removed',
  'user_created',
  'user_invited',
  'user_updated',
  'user_deleted',
  'user_signed_out',
  'link_generated',
  'identity_linked',
  'identity_unlinked',
  'provider_saved',
  'provider_removed',
  'passkey_added',
  'passkey_removed',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The time and the client of the request that an entry is about. */
export interface AuditContext {
  readonly now: Date;
  readonly origin: RequestOrigin;
  readonly details?: JsonObject;
}

export interface AuditEntry extends AuditContext {
  readonly action: AuditAction;
  readonly actorRole: 'anon' | 'authenticated' | 'service_role';
  readonly actorId: string | null;
  /** The account that was affected; null if the audited statement finds it, or if there is none. */
  readonly userId: string | null;
}

/** An action of a request without a session. @param userId the account that the request is about, if known */
export function byAnonymous(action: AuditAction, userId: string | null, context: AuditContext): AuditEntry {
  return { ...context, action, actorRole: 'anon', actorId: userId, userId };
}

/** An action of a signed-in user on their own account. */
export function byUser(action: AuditAction, userId: string, context: AuditContext): AuditEntry {
  return { ...context, action, actorRole: 'authenticated', actorId: userId, userId };
}

/** An action of the service-role key. @param userId the affected account; null for an id that is not valid */
export function byServiceRole(action: AuditAction, userId: string | null, context: AuditContext): AuditEntry {
  return { ...context, action, actorRole: 'service_role', actorId: null, userId };
}
