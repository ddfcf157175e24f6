/** Bodies and queries of GoTrue's paths. Members that Plinth does not know are dropped. */
import { UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Example } from '../../../../http/docs/example.decorator';
import { MAX_EMAIL } from '../../../../identity/email-address';
import { CAPTCHA } from '../../captcha.interceptor';
import { FACTOR_KINDS } from '../../../factors/factor';
import { LOGOUT_SCOPES } from '../../../sessions/session';
import * as f from '../../../../http/model/fields';
import { model } from '../../../../http/model/model';

const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 4_000;
const MAX_ID_TOKEN = 16_384;
const MAX_URL = 2_000;
const PASSWORD = 'correct horse';
const EMAIL = 'ada@example.com';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** An empty text is the same as an absent one. */

export class RedirectQuery extends model({
  redirect_to: f.optional(
    f.text({
      max: MAX_URL,
      description: 'Where the link of the mail leads: an address of the list of the project',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
}) {}

export class PkceDto extends model({
  code_challenge: f.optional(
    f.text({ max: 200, description: 'PKCE (RFC 7636)', example: CHALLENGE, checks: [f.EmptyIsAbsent()] }),
  ),
  code_challenge_method: f.optional(
    f.text({ max: 20, enum: ['s256', 'plain'], description: 'PKCE (RFC 7636)', checks: [f.EmptyIsAbsent()] }),
  ),
}) {}

export class LinkIdentityQuery extends model(PkceDto, {
  provider: f.text({ max: 100, example: 'google', description: 'Name of a provider of the project' }),
  redirect_to: f.optional(
    f.text({
      max: MAX_URL,
      description: 'Where the way back leads: an address of the list of the project',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  scopes: f.optional(f.text({ max: 500, description: 'Further scopes, separated by spaces' })),
}) {}

class AddressDto extends model(PkceDto, {
  email: f.optional(f.text({ max: MAX_EMAIL, format: 'email', example: EMAIL, checks: [f.EmptyIsAbsent()] })),
  phone: f.optional(
    f.text({
      max: 50,
      description: 'E.164, as `+4915112345678`; needs `send_sms_hook`',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
}) {}

@Example({ email: EMAIL, password: PASSWORD, data: { theme: 'dark' } })
export class GoTrueSignUpDto extends model(AddressDto, {
  password: f.optional(f.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72, example: PASSWORD })),
  data: f.optional(f.json('`user_metadata` of the new user')),
  gotrue_meta_security: CAPTCHA,
}) {}

@Example({ email: EMAIL, create_user: true })
export class GoTrueOtpDto extends model(AddressDto, {
  create_user: f.optional(f.flag('Creates an account if none has the address; default: true')),
  data: f.optional(f.json('`user_metadata` of a new user')),
  gotrue_meta_security: CAPTCHA,
}) {}

@Example({ email: EMAIL })
export class GoTrueEmailDto extends model(PkceDto, {
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  gotrue_meta_security: CAPTCHA,
}) {}

const RESEND_TYPES = ['signup', 'email_change', 'sms', 'phone_change'] as const;

@Example({ type: 'signup', email: EMAIL })
export class GoTrueResendDto extends model(AddressDto, {
  type: f.choice(RESEND_TYPES),
  gotrue_meta_security: CAPTCHA,
}) {}

const GRANT_TYPES = ['password', 'refresh_token', 'pkce', 'id_token', 'web3'] as const;

export class GrantQuery extends model({
  grant_type: f.choice(GRANT_TYPES, { example: 'password', description: '`web3` is refused' }),
}) {}

@Example({ email: EMAIL, password: PASSWORD })
export class GoTrueTokenDto extends model({
  email: f.optional(f.text({ max: MAX_EMAIL, example: EMAIL, description: 'Of `password`' })),
  phone: f.optional(
    f.text({
      max: 50,
      description: 'E.164, as `+4915112345678`; needs `send_sms_hook`',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  password: f.optional(f.text({ max: MAX_PASSWORD, description: 'Of `password`' })),
  refresh_token: f.optional(f.text({ max: MAX_TOKEN, description: 'Of `refresh_token`' })),
  auth_code: f.optional(
    f.text({
      max: MAX_TOKEN,
      description: 'Of `pkce`: the code that the link of a mail or the way back from a provider gave',
    }),
  ),
  code_verifier: f.optional(f.text({ max: 200, description: 'Of `pkce`' })),
  provider: f.optional(
    f.text({ max: 100, description: 'Of `id_token`: name of a provider of the project', example: 'google' }),
  ),
  id_token: f.optional(
    f.text({
      max: MAX_ID_TOKEN,
      description: 'Of `id_token`: the token that the provider issued for a client of the project',
    }),
  ),
  access_token: f.optional(
    f.text({ max: MAX_ID_TOKEN, description: 'Of `id_token`: the access token that `at_hash` was made of' }),
  ),
  nonce: f.optional(
    f.text({
      max: 500,
      description: 'Of `id_token`: the text whose SHA-256, in hexadecimal, is the `nonce` of the token',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  link_identity: f.optional(f.flag('Of `id_token`: not supported')),
  gotrue_meta_security: CAPTCHA,
}) {}

const VERIFY_TYPES = [
  'signup',
  'invite',
  'magiclink',
  'recovery',
  'email_change',
  'email',
  'sms',
  'phone_change',
] as const;
export type VerifyType = (typeof VERIFY_TYPES)[number];

@Example({ type: 'email', email: EMAIL, token: '123456' })
export class GoTrueVerifyDto extends model({
  type: f.choice(VERIFY_TYPES),
  token: f.optional(
    f.text({
      max: MAX_TOKEN,
      description: 'The code of the mail',
      example: '123456',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  token_hash: f.optional(
    f.text({
      max: MAX_TOKEN,
      description: 'The token of the link, in place of email and code',
      example: MAILED_TOKEN,
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  email: f.optional(f.text({ max: MAX_EMAIL, example: EMAIL, checks: [f.EmptyIsAbsent()] })),
  phone: f.optional(
    f.text({
      max: 50,
      description: 'E.164, as `+4915112345678`; needs `send_sms_hook`',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
}) {}

@Example({ data: { theme: 'dark' } })
export class GoTrueUpdateUserDto extends model(AddressDto, {
  password: f.optional(
    f.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72, description: 'Ends all other sessions' }),
  ),
  current_password: f.optional(
    f.text({ max: MAX_PASSWORD, description: 'The current password; checked if given' }),
  ),
  nonce: f.optional(
    f.text({
      max: 50,
      description: 'The code of a mail of `reauthenticate`',
      example: '123456',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
  data: f.optional(f.json('Merged into `user_metadata`; null removes a member')),
}) {}

export class LogoutQuery extends model({
  scope: f.optional(f.choice(LOGOUT_SCOPES, 'Default: `global`')),
}) {}

export class GoTrueEnrolDto extends model({
  factor_type: f.choice(FACTOR_KINDS, { example: 'totp' }),
  phone: f.optional(f.text({ max: 30, example: '+4915112345678', description: 'Of `phone`' })),
  friendly_name: f.optional(f.text({ max: 200, example: 'Phone' })),
  issuer: f.optional(f.text({ max: 200, description: 'Ignored: apps show the name of the project' })),
}) {}

class GoTrueKeyPartyDto extends model({
  rpId: f.optional(
    f.text({ max: 253, example: 'example.com', description: 'Default: that of the `Origin`' }),
  ),
}) {}

@Example({ webauthn: { rpId: 'example.com' } })
export class GoTrueChallengeDto extends model({
  webauthn: f.optional(f.object(GoTrueKeyPartyDto, 'Of a security key')),
}) {}

class GoTrueKeyAnswerDto extends model({
  credential_response: f.json('`toJSON()` of the credential of the browser'),
}) {}

export class GoTrueVerifyFactorDto extends model({
  challenge_id: f.text({ min: 1, max: 100, format: 'uuid', example: UUID_EXAMPLE }),
  code: f.optional(f.text({ min: 1, max: 50, example: '123456', description: 'Of an app or a phone' })),
  webauthn: f.optional(f.object(GoTrueKeyAnswerDto, 'Of a security key')),
}) {}

export class GoTruePageQuery extends model({
  page: f.optional(f.digits(1, 1_000_000, { description: 'Default: 1', checks: [f.EmptyIsAbsent()] })),
  per_page: f.optional(f.digits(1, 1_000, { description: 'Default: 50', checks: [f.EmptyIsAbsent()] })),
  filter: f.optional(
    f.text({
      max: MAX_EMAIL,
      description: 'Part of the email address or the name',
      checks: [f.EmptyIsAbsent()],
    }),
  ),
}) {}

class AdminFieldsDto extends model({
  email: f.optional(f.text({ max: MAX_EMAIL, format: 'email', example: EMAIL, checks: [f.EmptyIsAbsent()] })),
  phone: f.optional(f.text({ max: 50, description: 'Not supported', checks: [f.EmptyIsAbsent()] })),
  password: f.optional(f.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72 })),
  password_hash: f.optional(
    f.text({
      max: 1_000,
      description:
        'As another system exported it: bcrypt ($2a$, $2b$, $2y$), $argon2id$, $pbkdf2-sha256$ or $fbscrypt$',
    }),
  ),
  email_confirm: f.optional(f.flag('Whether the address counts as confirmed')),
  user_metadata: f.optional(f.json('Merged; null removes a member')),
  app_metadata: f.optional(f.json('Merged; null removes a member. At most 1,024 bytes')),
  ban_duration: f.optional(f.text({ max: 50, description: '`24h`, `90m`, `30s` or `none`', example: '24h' })),
}) {}

@Example({ email: EMAIL, password: PASSWORD, email_confirm: true })
export class GoTrueCreateUserDto extends model(AdminFieldsDto, {
  id: f.optional(f.uuid('Default: a new one')),
}) {}

@Example({ app_metadata: { roles: ['editor'] } })
export class GoTrueAdminUpdateDto extends AdminFieldsDto {}

export class GoTrueDeleteUserDto extends model({
  should_soft_delete: f.optional(f.flag({ description: 'Refused if true', example: false })),
}) {}

export class GoTrueInviteDto extends model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  data: f.optional(f.json({ description: '`user_metadata` of the new user', example: { theme: 'dark' } })),
}) {}

export const LINK_TYPES = [
  'signup',
  'invite',
  'magiclink',
  'recovery',
  'email_change_current',
  'email_change_new',
] as const;

export class GoTrueGenerateLinkDto extends model({
  type: f.choice(LINK_TYPES, { example: 'magiclink' }),
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  new_email: f.optional(
    f.text({ max: MAX_EMAIL, description: 'Of the types `email_change_...`', checks: [f.EmptyIsAbsent()] }),
  ),
  password: f.optional(
    f.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72, description: 'Of the type `signup`' }),
  ),
  data: f.optional(f.json('`user_metadata` of a new user')),
  redirect_to: f.optional(
    f.text({ max: MAX_URL, description: 'Where the link leads', checks: [f.EmptyIsAbsent()] }),
  ),
}) {}
