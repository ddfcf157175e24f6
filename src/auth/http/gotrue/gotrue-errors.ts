/** Plinth's errors in the terms of GoTrue's clients: status, `error_code` and message. */
import type { Request } from 'express';
import { CredentialsRefused } from '../../../access/access.errors';
import { AppError } from '../../../common/errors/app-error';
import { bodyNotJson } from '../../../http/bodies/body.errors';
import { OAuthError } from '../../oauth/oauth.errors';

/** Null keeps the error's own status or message. */
type Known = readonly [status: number | null, code: string, message: string | null];

const KNOWN: Readonly<Record<string, Known>> = {
  authorization_not_found: [404, 'oauth_authorization_not_found', null],
  grant_not_found: [404, 'oauth_consent_not_found', null],
  oauth_client_not_found: [404, 'oauth_client_not_found', null],
  oauth_server_disabled: [404, 'feature_disabled', null],
  own_session_required: [403, 'no_authorization', null],
  registration_disabled: [403, 'oauth_dynamic_client_registration_disabled', null],
  unknown_oauth_client: [400, 'oauth_client_not_found', null],
  address_not_proved: [422, 'provider_email_needs_verification', null],
  identity_not_found: [422, 'identity_not_found', "Identity doesn't exist"],
  identity_taken: [422, 'identity_already_exists', 'Identity is already linked to another user'],
  invalid_state: [400, 'bad_oauth_state', null],
  last_identity: [422, 'single_identity_not_deletable', 'User must have at least 1 identity after unlinking'],
  linking_disabled: [404, 'manual_linking_disabled', 'Manual linking is disabled'],
  no_address: [422, 'provider_email_needs_verification', 'Error getting user email from external provider'],
  oidc_failed: [400, 'bad_oauth_callback', 'The answer of the provider is not valid for this sign-in'],
  oidc_unreachable: [503, 'unexpected_failure', 'The provider does not answer'],
  provider_not_enabled: [400, 'validation_failed', 'Unsupported provider: provider is not enabled'],
  provider_not_found: [404, 'validation_failed', null],
  saml_failed: [400, 'validation_failed', 'SAML Assertion is not valid'],
  sso_provider_not_found: [404, 'sso_provider_not_found', 'No SSO provider assigned for this domain'],
  saml_provider_taken: [422, 'saml_idp_already_exists', null],
  metadata_unreachable: [400, 'saml_metadata_fetch_failed', null],
  captcha_failed: [400, 'captcha_failed', 'captcha protection: request disallowed'],
  captcha_unavailable: [503, 'unexpected_failure', null],
  ldap_disabled: [404, 'validation_failed', null],
  directory_failed: [503, 'unexpected_failure', null],
  passkeys_disabled: [404, 'passkey_disabled', null],
  passkey_failed: [401, 'webauthn_verification_failed', null],
  phone_disabled: [400, 'phone_provider_disabled', 'Unsupported phone provider'],
  phone_taken: [422, 'phone_exists', 'A user with this phone number has already been registered'],
  passkey_challenge_not_found: [400, 'webauthn_challenge_not_found', null],
  passkey_not_found: [404, 'webauthn_credential_not_found', null],
  too_many_passkeys: [422, 'too_many_passkeys', null],
  claims_too_large: [403, 'unexpected_failure', null],
  provider_refused: [403, 'bad_oauth_callback', null],
  account_locked: [429, 'over_request_rate_limit', 'Request rate limit reached'],
  address_needed: [
    422,
    'validation_failed',
    'Updating password of an anonymous user without an email or phone is not allowed',
  ],
  anonymous_disabled: [422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
  current_password_required: [
    400,
    'current_password_required',
    'Current password required when setting new password.',
  ],
  email_domain_not_allowed: [400, 'email_address_not_authorized', null],
  email_not_verified: [400, 'email_not_confirmed', 'Email not confirmed'],
  email_taken: [422, 'email_exists', 'A user with this email address has already been registered'],
  factor_not_found: [404, 'mfa_factor_not_found', 'Factor not found'],
  forbidden: [403, 'not_admin', 'User not allowed'],
  hook_failed: [500, 'unexpected_failure', null],
  hook_refused: [null, 'hook_refused', null],
  insufficient_aal: [403, 'insufficient_aal', 'AAL2 session is required when MFA is enabled.'],
  invalid_code: [422, 'mfa_verification_failed', 'Invalid TOTP code entered'],
  invalid_credentials: [400, 'invalid_credentials', 'Invalid login credentials'],
  invalid_email: [400, 'validation_failed', 'Unable to validate email address: invalid format'],
  invalid_exchange_code: [404, 'flow_state_not_found', 'invalid flow state, no valid flow state found'],
  invalid_parameters: [400, 'validation_failed', null],
  invalid_password_hash: [400, 'validation_failed', null],
  invalid_reauthentication: [
    422,
    'reauthentication_not_valid',
    'Verification code is invalid or has expired',
  ],
  invalid_refresh_token: [400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found'],
  invalid_token: [403, 'otp_expired', 'Token has expired or is invalid'],
  magic_link_disabled: [422, 'email_provider_disabled', 'Login with magic link is disabled'],
  rate_limited: [429, 'over_request_rate_limit', 'Request rate limit reached'],
  reauthentication_needed: [400, 'reauthentication_needed', 'Password update requires reauthentication'],
  session_not_found: [403, 'session_not_found', 'Session from session_id claim in JWT does not exist'],
  signup_disabled: [422, 'signup_disabled', 'Signups not allowed for this instance'],
  too_many_factors: [
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  ],
  user_banned: [400, 'user_banned', 'User is banned'],
  user_not_found: [404, 'user_not_found', 'User not found'],
  weak_password: [422, 'weak_password', null],
  wrong_password: [400, 'current_password_invalid', 'Current password is wrong'],
  wrong_verifier: [400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier'],
};

const NOT_JSON = bodyNotJson();
const BAD_JSON: Known = [400, 'bad_json', null];

/** Routes that send mails: GoTrue has an error code for their rate limit. */
const MAILING = /\/(recover|otp|magiclink|resend|invite|reauthenticate)$/;

/** An error that is already in GoTrue's terms. */
export class GoTrueError extends AppError {
  constructor(status: number, code: string, message: string, extra: Readonly<Record<string, unknown>> = {}) {
    super(status, code, message, { extra });
  }
}

export const badJwt = (message = 'invalid JWT: unable to parse or verify signature'): GoTrueError =>
  new GoTrueError(403, 'bad_jwt', message);

export const sessionGone = (): GoTrueError =>
  new GoTrueError(403, 'session_not_found', 'Session from session_id claim in JWT does not exist');

export const validationFailed = (message: string, status = 400): GoTrueError =>
  new GoTrueError(status, 'validation_failed', message);

export const userExists = (): GoTrueError =>
  new GoTrueError(422, 'user_already_exists', 'User already registered');

export const invalidPhone = (): GoTrueError =>
  validationFailed('Invalid phone number format (E.164 required)');

export const web3Disabled = (): GoTrueError =>
  new GoTrueError(422, 'web3_provider_disabled', 'Web3 provider is disabled');

export const samlDisabled = (): GoTrueError =>
  new GoTrueError(404, 'saml_provider_disabled', 'SAML 2.0 is disabled');

export const challengeExpired = (): GoTrueError =>
  new GoTrueError(
    422,
    'mfa_challenge_expired',
    'MFA challenge has expired, verify against another challenge or create a new challenge.',
  );

export const anonymousFactor = (): GoTrueError =>
  new GoTrueError(403, 'no_authorization', 'Anonymous user not allowed to perform these actions');

export const softDeletionUnsupported = (): GoTrueError =>
  new GoTrueError(422, 'feature_disabled', 'Soft deletion is not supported');

/** @param request absent in the OpenAPI document */
export function toGoTrue(error: AppError, request?: Request): AppError {
  if (error instanceof GoTrueError || error instanceof OAuthError) return error;
  if (error instanceof CredentialsRefused) return refusedCredentials(error, request);
  const known = error.message === NOT_JSON.message ? BAD_JSON : KNOWN[error.code];
  const [status, code, message] = known ?? [null, codeOf(error.status), null];
  return new AppError(status ?? error.status, codeAt(error, code, request), message ?? messageOf(error), {
    statusText: error.statusText,
    headers: error.headers,
    extra: code === 'weak_password' ? { weak_password: { reasons: reasonsOf(error) } } : {},
    details: error.details,
    cause: error.cause,
  });
}

function messageOf({ message, details: { least } }: AppError): string {
  return typeof least === 'number' ? `Password should be at least ${least} characters.` : message;
}

/** Some codes depend on the route. */
function codeAt(error: AppError, code: string, request: Request | undefined): string {
  if (code === 'over_request_rate_limit' && isMailing(request)) return 'over_email_send_rate_limit';
  const isToken = request?.path.endsWith('/token') ?? false;
  return error.code === 'provider_not_enabled' && isToken ? 'provider_disabled' : code;
}

const isMailing = (request: Request | undefined): boolean => MAILING.test(request?.path ?? '');

const reasonsOf = ({ details: { kind } }: AppError): string[] =>
  kind === 'too_common' || kind === 'breached' ? ['pwned'] : ['length'];

function codeOf(status: number): string {
  if (status === 413) return 'request_entity_too_large';
  if (status === 429) return 'over_request_rate_limit';
  return status < 500 ? 'validation_failed' : 'unexpected_failure';
}

/** GoTrue answers 401 without a token and 403 to a token that it does not accept. */
function refusedCredentials(error: CredentialsRefused, request: Request | undefined): AppError {
  const { headers, cause } = error;
  const missing = (message: string): AppError =>
    new AppError(401, 'no_authorization', message, { headers, cause });
  if (!request || !isKeyOfPath(request))
    return missing(error.fault === 'missing' ? error.message : 'Invalid API key');
  if (error.fault === 'missing') return missing('This endpoint requires a valid Bearer token');
  const { caller } = request;
  if (!caller) return badJwt(`invalid JWT: ${faultText(error)}`);
  return caller.userId === null ? badJwt('invalid claim: missing sub claim') : sessionGone();
}

/** A key of another project was verified before the path was compared. */
function isKeyOfPath({ apiKey, params: { project_slug: slug } }: Request): boolean {
  return apiKey !== undefined && (slug === undefined || slug === apiKey.project.slug);
}

const faultText = ({ fault }: CredentialsRefused): string =>
  fault === 'untimely' ? 'token is expired' : 'unable to parse or verify signature';
