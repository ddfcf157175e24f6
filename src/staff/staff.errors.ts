/** Errors of staff, their sessions and their roles. */
import type { AppError } from '../common/errors/app-error';
import { refusal } from '../identity/identity.errors';

/** Revealed only after the password has been verified. */
export const factorRequired = (): AppError =>
  refusal(401, 'factor_required', 'The account has a second factor: send its code, or a recovery code');

export const wrongFactorCode = (): AppError =>
  refusal(401, 'invalid_code', 'The code is wrong, too old, or was used before');

export const csrfFailed = (): AppError =>
  refusal(403, 'csrf_failed', 'Requests with the session cookie need its csrf_token as X-CSRF-Token');

export const foreignOrigin = (): AppError =>
  refusal(403, 'foreign_origin', 'A page of another origin sent this request');

export const roleForbids = (): AppError =>
  refusal(403, 'forbidden', 'The role, or the scope of the token, does not allow this');

/** The change of the account is kept. */
export const passwordsKept = (slugs: readonly string[]): AppError =>
  refusal(
    503,
    'service_unavailable',
    `The account was changed, but not the database password of ${slugs.join(', ')}: rotate the keys of these projects`,
  );

export const staffMemberRequired = (): AppError =>
  refusal(403, 'person_required', 'This is about a staff member: PLATFORM_ADMIN_KEY belongs to none');

export const sessionRequired = (): AppError =>
  refusal(403, 'session_required', 'This needs a session: sign in with email and password');

export const setupOver = (): AppError =>
  refusal(409, 'already_set_up', 'The installation has an owner; owners invite further staff');

export const setupTokenInvalid = (): AppError =>
  refusal(403, 'invalid_setup_token', 'The set-up link is not valid; `plinth setup-link` makes a new one');

export const staffMemberNotFound = (): AppError =>
  refusal(404, 'person_not_found', 'There is no such staff member');

export const staffMemberExists = (): AppError =>
  refusal(
    409,
    'person_exists',
    'This staff member has an account; PUT /admin/v1/projects/{id}/people/{email} gives them a role in a project',
  );

export const lastOwner = (): AppError =>
  refusal(409, 'last_owner', 'This is the last owner; make another staff member an owner first');

export const invitationInvalid = (): AppError =>
  refusal(403, 'invalid_invitation', 'The invitation is not valid, was used, withdrawn, or is too old');

export const invitationNotFound = (): AppError =>
  refusal(404, 'invitation_not_found', 'There is no such invitation');

export const alreadyInvited = (): AppError =>
  refusal(409, 'already_invited', 'This address has an invitation; withdraw it first');

export const tokenNotFound = (): AppError => refusal(404, 'token_not_found', 'There is no such token');

export const tooManyTokens = (most: number): AppError =>
  refusal(400, 'too_many_tokens', `A staff member has at most ${most} tokens; delete one first`);

export const factorExists = (): AppError =>
  refusal(409, 'factor_exists', 'The account has a second factor; remove it first');

export const noFactor = (): AppError =>
  refusal(404, 'factor_not_found', 'No second factor is set up or being set up');

export const accountDisabled = (): AppError =>
  refusal(403, 'account_disabled', 'The account is disabled; an owner or operator can enable it');

/** The ways to sign in with an account of another system. */
export type SingleSignOnWay = 'oidc' | 'saml' | 'ldap';

export const wayUnused = (way: SingleSignOnWay): AppError =>
  refusal(404, `${way}_not_configured`, `Single sign-on is not set up: STAFF_SIGN_IN has no member ${way}`);

export const noGroupRole = (way: SingleSignOnWay): AppError =>
  refusal(403, `${way}_no_role`, 'None of your groups at the issuer gives a role here');

export const addressTaken = (way: SingleSignOnWay): AppError =>
  refusal(409, `${way}_address_taken`, 'Another account has this email, and the issuer has not verified it');

export const noAddress = (way: SingleSignOnWay): AppError =>
  refusal(401, `${way}_failed`, 'The answer of the issuer is not valid for this sign-in: it has no email');

export const samlUnreachable = (): AppError =>
  refusal(503, 'saml_unreachable', 'The metadata of the identity provider cannot be read');

export const stepUpRequired = (): AppError =>
  refusal(
    403,
    'step_up_required',
    'Confirm who you are: POST /admin/v1/session/confirm with the password, a code or a passkey, or sign in again. It counts for ten minutes',
  );

export const passkeyNotFound = (): AppError => refusal(404, 'passkey_not_found', 'There is no such passkey');

export const tooManyPasskeys = (most: number): AppError =>
  refusal(400, 'too_many_passkeys', `A staff member has at most ${most} passkeys; delete one first`);
