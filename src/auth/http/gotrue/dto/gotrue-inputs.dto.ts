/** Bodies and queries of GoTrue's paths. Members that Plinth does not know are dropped. */
import { UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { MAX_EMAIL } from '../../../../identity/email-address';
import { CAPTCHA } from '../../captcha.interceptor';
import { FACTOR_KINDS } from '../../../factors/factor';
import { LOGOUT_SCOPES } from '../../../sessions/session';
import * as f from '../../../../http/model/fields';

const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 4_000;
const MAX_ID_TOKEN = 16_384;
const MAX_URL = 2_000;
const PASSWORD = 'correct horse';
const EMAIL = 'ada@example.com';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** An empty string counts as absent. */

export class RedirectQuery extends f.model({
  redirect_to: f.optional.text('The target of the link in the mail: an address in the list of the project', {
    max: MAX_URL,
    checks: [f.EmptyIsAbsent()],
  }),
}) {}

export class PkceDto extends f.model({
  code_challenge: f.optional.text('PKCE (RFC 7636)', {
    max: 200,
    example: CHALLENGE,
    checks: [f.EmptyIsAbsent()],
  }),
  code_challenge_method: f.optional.text('PKCE (RFC 7636)', {
    max: 20,
    enum: ['s256', 'plain'],
    checks: [f.EmptyIsAbsent()],
  }),
}) {}

export class LinkIdentityQuery extends f.model(PkceDto, {
  provider: f.text('Name of a provider of the project', { max: 100, example: 'google' }),
  redirect_to: f.optional.text('The target of the final redirect: an address in the list of the project', {
    max: MAX_URL,
    checks: [f.EmptyIsAbsent()],
  }),
  scopes: f.optional.text('Further scopes, separated by spaces', { max: 500 }),
}) {}

class AddressDto extends f.model(PkceDto, {
  email: f.optional.text({ max: MAX_EMAIL, format: 'email', example: EMAIL, checks: [f.EmptyIsAbsent()] }),
  phone: f.optional.text('E.164, as `+4915112345678`; needs `send_sms_hook`', {
    max: 50,
    checks: [f.EmptyIsAbsent()],
  }),
}) {}

@f.Example({ email: EMAIL, password: PASSWORD, data: { theme: 'dark' } })
export class GoTrueSignUpDto extends f.model(AddressDto, {
  password: f.optional.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72, example: PASSWORD }),
  data: f.optional.json('`user_metadata` of the new user'),
  gotrue_meta_security: CAPTCHA,
}) {}

@f.Example({ email: EMAIL, create_user: true })
export class GoTrueOtpDto extends f.model(AddressDto, {
  create_user: f.optional.flag('Creates an account if none has the address; default: true'),
  data: f.optional.json('`user_metadata` of a new user'),
  gotrue_meta_security: CAPTCHA,
}) {}

@f.Example({ email: EMAIL })
export class GoTrueEmailDto extends f.model(PkceDto, {
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  gotrue_meta_security: CAPTCHA,
}) {}

const RESEND_TYPES = ['signup', 'email_change', 'sms', 'phone_change'] as const;

@f.Example({ type: 'signup', email: EMAIL })
export class GoTrueResendDto extends f.model(AddressDto, {
  type: f.choice(RESEND_TYPES),
  gotrue_meta_security: CAPTCHA,
}) {}

const GRANT_TYPES = ['password', 'refresh_token', 'pkce', 'id_token', 'web3'] as const;

export class GrantQuery extends f.model({
  grant_type: f.choice(GRANT_TYPES, '`web3` is refused', { example: 'password' }),
}) {}

@f.Example({ email: EMAIL, password: PASSWORD })
export class GoTrueTokenDto extends f.model({
  email: f.optional.text('Of `password`', { max: MAX_EMAIL, example: EMAIL }),
  phone: f.optional.text('E.164, as `+4915112345678`; needs `send_sms_hook`', {
    max: 50,
    checks: [f.EmptyIsAbsent()],
  }),
  password: f.optional.text('Of `password`', { max: MAX_PASSWORD }),
  refresh_token: f.optional.text('Of `refresh_token`', { max: MAX_TOKEN }),
  auth_code: f.optional.text(
    'Of `pkce`: the code from the link of a mail or from the redirect of a provider',
    { max: MAX_TOKEN },
  ),
  code_verifier: f.optional.text('Of `pkce`', { max: 200 }),
  provider: f.optional.text('Of `id_token`: name of a provider of the project', {
    max: 100,
    example: 'google',
  }),
  id_token: f.optional.text('Of `id_token`: the token that the provider issued for a client of the project', {
    max: MAX_ID_TOKEN,
  }),
  access_token: f.optional.text('Of `id_token`: the access token that `at_hash` was made of', {
    max: MAX_ID_TOKEN,
  }),
  nonce: f.optional.text(
    'Of `id_token`: the text whose SHA-256, in hexadecimal, is the `nonce` of the token',
    { max: 500, checks: [f.EmptyIsAbsent()] },
  ),
  link_identity: f.optional.flag('Of `id_token`: not supported'),
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

@f.Example({ type: 'email', email: EMAIL, token: '123456' })
export class GoTrueVerifyDto extends f.model({
  type: f.choice(VERIFY_TYPES),
  token: f.optional.text('The code of the mail', {
    max: MAX_TOKEN,
    example: '123456',
    checks: [f.EmptyIsAbsent()],
  }),
  token_hash: f.optional.text('The token of the link, in place of email and code', {
    max: MAX_TOKEN,
    example: MAILED_TOKEN,
    checks: [f.EmptyIsAbsent()],
  }),
  email: f.optional.text({ max: MAX_EMAIL, example: EMAIL, checks: [f.EmptyIsAbsent()] }),
  phone: f.optional.text('E.164, as `+4915112345678`; needs `send_sms_hook`', {
    max: 50,
    checks: [f.EmptyIsAbsent()],
  }),
}) {}

@f.Example({ data: { theme: 'dark' } })
export class GoTrueUpdateUserDto extends f.model(AddressDto, {
  password: f.optional.text('Ends all other sessions', { max: MAX_PASSWORD, minLength: 6, maxLength: 72 }),
  current_password: f.optional.text('The current password; checked if given', { max: MAX_PASSWORD }),
  nonce: f.optional.text('The code of a mail of `reauthenticate`', {
    max: 50,
    example: '123456',
    checks: [f.EmptyIsAbsent()],
  }),
  data: f.optional.json('Merged into `user_metadata`; null removes a member'),
}) {}

export class LogoutQuery extends f.model({
  scope: f.optional.choice(LOGOUT_SCOPES, 'Default: `global`'),
}) {}

export class GoTrueEnrolDto extends f.model({
  factor_type: f.choice(FACTOR_KINDS, { example: 'totp' }),
  phone: f.optional.text('Of `phone`', { max: 30, example: '+4915112345678' }),
  friendly_name: f.optional.text({ max: 200, example: 'Phone' }),
  issuer: f.optional.text('Ignored: apps show the name of the project', { max: 200 }),
}) {}

class GoTrueKeyPartyDto extends f.model({
  rpId: f.optional.text('Default: that of the `Origin`', { max: 253, example: 'example.com' }),
}) {}

@f.Example({ webauthn: { rpId: 'example.com' } })
export class GoTrueChallengeDto extends f.model({
  webauthn: f.optional.object(GoTrueKeyPartyDto, 'Of a security key'),
}) {}

class GoTrueKeyAnswerDto extends f.model({
  credential_response: f.json('`toJSON()` of the credential of the browser'),
}) {}

export class GoTrueVerifyFactorDto extends f.model({
  challenge_id: f.text({ min: 1, max: 100, format: 'uuid', example: UUID_EXAMPLE }),
  code: f.optional.text('Of an app or a phone', { min: 1, max: 50, example: '123456' }),
  webauthn: f.optional.object(GoTrueKeyAnswerDto, 'Of a security key'),
}) {}

export class GoTruePageQuery extends f.model({
  page: f.optional.digits(1, 1_000_000, 'Default: 1', { checks: [f.EmptyIsAbsent()] }),
  per_page: f.optional.digits(1, 1_000, 'Default: 50', { checks: [f.EmptyIsAbsent()] }),
  filter: f.optional.text('Part of the email address or the name', {
    max: MAX_EMAIL,
    checks: [f.EmptyIsAbsent()],
  }),
}) {}

class AdminFieldsDto extends f.model({
  email: f.optional.text({ max: MAX_EMAIL, format: 'email', example: EMAIL, checks: [f.EmptyIsAbsent()] }),
  phone: f.optional.text('Not supported', { max: 50, checks: [f.EmptyIsAbsent()] }),
  password: f.optional.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72 }),
  password_hash: f.optional.text(
    'As another system exported it: bcrypt ($2a$, $2b$, $2y$), $argon2id$, $pbkdf2-sha256$ or $fbscrypt$',
    { max: 1_000 },
  ),
  email_confirm: f.optional.flag('Whether the address counts as confirmed'),
  user_metadata: f.optional.json('Merged; null removes a member'),
  app_metadata: f.optional.json('Merged; null removes a member. At most 1,024 bytes'),
  ban_duration: f.optional.text('`24h`, `90m`, `30s` or `none`', { max: 50, example: '24h' }),
}) {}

@f.Example({ email: EMAIL, password: PASSWORD, email_confirm: true })
export class GoTrueCreateUserDto extends f.model(AdminFieldsDto, {
  id: f.optional.uuid('Default: a new one'),
}) {}

@f.Example({ app_metadata: { roles: ['editor'] } })
export class GoTrueAdminUpdateDto extends AdminFieldsDto {}

export class GoTrueDeleteUserDto extends f.model({
  should_soft_delete: f.optional.flag('Refused if true', { example: false }),
}) {}

export class GoTrueInviteDto extends f.model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  data: f.optional.json('`user_metadata` of the new user', { example: { theme: 'dark' } }),
}) {}

export const LINK_TYPES = [
  'signup',
  'invite',
  'magiclink',
  'recovery',
  'email_change_current',
  'email_change_new',
] as const;

export class GoTrueGenerateLinkDto extends f.model({
  type: f.choice(LINK_TYPES, { example: 'magiclink' }),
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: EMAIL }),
  new_email: f.optional.text('Of the types `email_change_...`', {
    max: MAX_EMAIL,
    checks: [f.EmptyIsAbsent()],
  }),
  password: f.optional.text('Of the type `signup`', { max: MAX_PASSWORD, minLength: 6, maxLength: 72 }),
  data: f.optional.json('`user_metadata` of a new user'),
  redirect_to: f.optional.text('The target of the link', { max: MAX_URL, checks: [f.EmptyIsAbsent()] }),
}) {}
