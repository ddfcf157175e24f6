/** Errors of the auth endpoints. Cases that a client must not be able to tell apart share one factory. */
import type { AppError } from '../common/errors/app-error';
import { refusal } from '../identity/identity.errors';

export const emailTaken = (cause?: unknown): AppError =>
  refusal(400, 'email_taken', 'An account with this email already exists', cause);

export const captchaFailed = (): AppError => refusal(400, 'captcha_failed', 'The captcha was not solved');

export const captchaUnavailable = (cause?: unknown): AppError =>
  refusal(503, 'captcha_unavailable', 'The captcha could not be checked; try again', cause);

export const domainNotAllowed = (): AppError =>
  refusal(400, 'email_domain_not_allowed', 'Addresses of this domain cannot sign up here');

export const signUpDisabled = (): AppError => refusal(403, 'signup_disabled', 'Sign-up is turned off');

export const magicLinkDisabled = (): AppError =>
  refusal(403, 'magic_link_disabled', 'Sign-in by mail is turned off');

/** The same error for a spent, an expired and an unknown code. */
export const invalidExchangeCode = (): AppError =>
  refusal(401, 'invalid_exchange_code', 'The code is not valid or no longer valid');

export const wrongVerifier = (): AppError =>
  refusal(401, 'wrong_verifier', 'The code verifier does not match the challenge');

export const reauthenticationNeeded = (): AppError =>
  refusal(
    400,
    'reauthentication_needed',
    'The session is older than a day: sign in again, or send the code of a mail with a new password',
  );

export const wrongReauthentication = (): AppError =>
  refusal(401, 'invalid_reauthentication', 'The code is not valid or no longer valid');

export const anonymousDisabled = (): AppError =>
  refusal(403, 'anonymous_disabled', 'Anonymous users are turned off');

/** Revealed only after the password was verified. */
export const emailNotVerified = (): AppError =>
  refusal(403, 'email_not_verified', 'The email address has not been verified yet');

/** Revealed only after the password was verified. */
export const userBanned = (): AppError => refusal(403, 'user_banned', 'This account is blocked');

/** The same error for an unknown, spent, replaced, expired and altered token. */
export const invalidMailedToken = (): AppError =>
  refusal(401, 'invalid_token', 'The token is not valid or no longer valid');

export const invalidRefreshToken = (): AppError =>
  refusal(401, 'invalid_refresh_token', 'The refresh token is not valid or no longer valid');

export const wrongCurrentPassword = (): AppError =>
  refusal(403, 'wrong_password', 'The current password is wrong');

export const currentPasswordRequired = (): AppError =>
  refusal(400, 'current_password_required', 'current_password is required to set a new password');

export const addressNeeded = (): AppError =>
  refusal(400, 'address_needed', 'An anonymous user needs an email before a password');

export const userNotFound = (): AppError => refusal(404, 'user_not_found', 'There is no such user');

/** @param limit bytes */
export const userDataTooLarge = (limit: number): AppError =>
  refusal(400, 'invalid_parameters', `data must not be longer than ${limit} bytes`);

/** Never the error of a page of one user: the largest account fits. */
export const pageTooLarge = (cause: unknown): AppError =>
  refusal(
    400,
    'page_too_large',
    'The users of this page are too large for one answer: lower per_page',
    cause,
  );

export const unusablePasswordHash = (): AppError =>
  refusal(400, 'invalid_password_hash', 'password_hash must be a hash of bcrypt, Argon2, PBKDF2 or Firebase');

/** The same error for a wrong, an expired and a used code. */
export const wrongCode = (): AppError =>
  refusal(401, 'invalid_code', 'The code is not valid or no longer valid');

export const factorNotFound = (): AppError => refusal(404, 'factor_not_found', 'There is no such factor');

export const tooManyFactors = (limit: number): AppError =>
  refusal(400, 'too_many_factors', `An account has at most ${limit} factors`);

/** The account has a second factor, and the session did not verify it. */
export const secondFactorRequired = (): AppError =>
  refusal(403, 'insufficient_aal', 'This needs a session with a second factor: verify a code first');

export const mailNotSent = (reason: string, cause?: unknown): AppError =>
  refusal(502, 'mail_not_sent', `The mail was not sent: ${reason}`, cause);

export const mailNotFound = (): AppError =>
  refusal(404, 'mail_not_found', 'There is no such failed mail, or its token has expired');

export const providerNotFound = (): AppError =>
  refusal(404, 'provider_not_found', 'There is no such provider');

export const secretNeeded = (): AppError =>
  refusal(
    400,
    'secret_needed',
    'The secret must be given again, since the provider is at another address now',
  );

/** The same error for an unknown and a disabled provider. */
export const providerNotEnabled = (): AppError =>
  refusal(400, 'provider_not_enabled', 'There is no such provider, or it is turned off');

/** For an identity whose address belongs to an account: linking them needs a proof from both sides. */
export const addressNotProved = (): AppError =>
  refusal(
    422,
    'address_not_proved',
    'The address belongs to an account, or must be verified: sign in to the account, verify its address, and link the provider',
  );

export const noAddress = (): AppError =>
  refusal(400, 'no_address', 'The provider did not give an email address');

export const identityTaken = (): AppError => refusal(422, 'identity_taken', 'The identity is linked already');

export const identityNotFound = (): AppError =>
  refusal(404, 'identity_not_found', 'There is no such identity');

export const lastIdentity = (): AppError =>
  refusal(422, 'last_identity', 'The last identity of a user cannot be unlinked');

export const linkingDisabled = (): AppError =>
  refusal(404, 'linking_disabled', 'Linking of identities is turned off');

/** The same error for an altered, expired or used state, and for the state of another browser. */
export const invalidState = (): AppError =>
  refusal(
    400,
    'invalid_state',
    'This sign-in began in another browser, was completed, or took too long; begin again',
  );

export const providerRefused = (): AppError =>
  refusal(403, 'provider_refused', 'The provider did not sign the user in');

export const noRedirect = (): AppError =>
  refusal(400, 'no_redirect', 'The project has no site_url, and does not allow the redirect');

/** The same error for an unknown and a disabled provider. */
export const ssoProviderNotFound = (): AppError =>
  refusal(404, 'sso_provider_not_found', 'There is no such SSO provider');

export const samlProviderTaken = (): AppError =>
  refusal(
    422,
    'saml_provider_taken',
    'Another SSO provider of the project has this entity, resource_id or domain',
  );

export const metadataUnreachable = (cause?: unknown): AppError =>
  refusal(400, 'metadata_unreachable', 'The metadata could not be read from its address', cause);

export const ldapDisabled = (): AppError => refusal(404, 'ldap_disabled', 'Sign-in with LDAP is turned off');

export const claimsTooLarge = (limit: number): AppError =>
  refusal(403, 'claims_too_large', `The mapped attributes of the user have more than ${limit} bytes`);

export const passkeysDisabled = (): AppError =>
  refusal(404, 'passkeys_disabled', 'Passkeys are turned off, or the project has no origin for them');

export const passkeyNotFound = (): AppError => refusal(404, 'passkey_not_found', 'There is no such passkey');

export const tooManyPasskeys = (limit: number): AppError =>
  refusal(400, 'too_many_passkeys', `A user has at most ${limit} passkeys`);

export const passkeyChallengeNotFound = (): AppError =>
  refusal(
    400,
    'passkey_challenge_not_found',
    'The challenge was used, has expired, or is for another request',
  );

export const phoneDisabled = (): AppError =>
  refusal(400, 'phone_disabled', 'The project sends no messages to phones');

export const phoneTaken = (): AppError =>
  refusal(400, 'phone_taken', 'An account with this phone already exists');
