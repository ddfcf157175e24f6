/** Entries of the audit trail: who did what, from where and when. An entry never holds a secret. */
import { JsonObject } from '../../common/text/json';
import { RequestOrigin } from '../../identity/request-origin';
import { Statement } from '../../database/statement';

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
  'oauth_client_created',
  'oauth_client_updated',
  'oauth_client_removed',
  'oauth_secret_replaced',
  'oauth_approved',
  'oauth_grant_revoked',
  'oauth_code_reused',
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

/** A change that must be audited, in parts: only withAudit() makes a statement of it. */
interface AuditableChange<Step extends string> {
  /** Same as Statement.name. */
  readonly name?: string;
  /** The common table expressions, by name and in order. */
  readonly steps: Readonly<Record<Step, string>>;
  /** The step whose rows are audited: one entry for each row, with the account in its column `id`. */
  readonly audited: NoInfer<Step>;
  /** The main query; it can read from every step. */
  readonly query: string;
  /** Values of the parameters $1, $2 ... in steps and query. */
  readonly values: readonly unknown[];
}

/** The columns of an entry, each with its type. */
const COLUMNS = {
  at: 'timestamptz',
  action: 'text',
  actor_id: 'uuid',
  actor_role: 'text',
  user_id: 'uuid',
  ip: 'text',
  user_agent: 'text',
  details: 'jsonb',
} as const;

/** `steps: { u: 'update ... returning id' }, query: 'select from u'` gives `with u as (...), audit as (...) select from u`. */
export function withAudit<Step extends string>(change: AuditableChange<Step>, entry: AuditEntry): Statement {
  const { name, audited, query, values } = change;
  const steps = { ...change.steps, audit: insertion(audited, values.length) };
  const expressions = Object.entries<string>(steps).map(([step, sql]) => `${step} as (${sql})`);
  return { name, text: `with ${expressions.join(', ')} ${query}`, values: [...values, ...valuesOf(entry)] };
}

/** @param parameters number of parameters of the change, which precede those of the entry */
function insertion(audited: string, parameters: number): string {
  const values = Object.entries(COLUMNS).map(([column, type], index) => {
    const parameter = `$${parameters + index + 1}::${type}`;
    return column === 'user_id' ? `coalesce(${parameter}, happened.id)` : parameter;
  });
  const columns = Object.keys(COLUMNS).join(', ');
  return `insert into auth.audit_log (${columns}) select ${values.join(', ')} from ${audited} happened`;
}

/** In the order of COLUMNS. */
function valuesOf({ action, now, origin, actorRole, actorId, userId, details = {} }: AuditEntry): unknown[] {
  return [now, action, actorId, actorRole, userId, origin.ip, origin.userAgent, JSON.stringify(details)];
}
