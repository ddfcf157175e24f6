/** Answers of GoTrue's paths. */
import { ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { UNIX_SECONDS, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { FACTOR_KINDS } from '../../../factors/factor';
import * as f from '../../../../http/model/fields';

const AT = '2026-01-01T08:00:00.000Z';
const ACCESS_TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwYjZmIn0.c2lnbmF0dXJl';

export class GoTrueFactorResponse extends f.model({
  id: f.uuid(),
  friendly_name: f.text({ example: 'Phone' }),
  factor_type: f.choice(FACTOR_KINDS),
  status: f.choice(['verified', 'unverified']),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class GoTrueIdentityResponse extends f.model({
  identity_id: f.uuid(),
  id: f.text('The id of the user at the provider', { example: UUID_EXAMPLE }),
  user_id: f.uuid(),
  identity_data: f.json({ example: { sub: UUID_EXAMPLE, email: 'ada@example.com' } }),
  provider: f.text({ example: 'email' }),
  last_sign_in_at: f.nullable.timeText(),
  created_at: f.timeText(),
  updated_at: f.timeText(),
  email: f.text({ example: 'ada@example.com' }),
}) {}

export class GoTrueUserResponse extends f.model({
  id: f.uuid(),
  aud: f.text({ example: 'authenticated' }),
  role: f.text({ example: 'authenticated' }),
  email: f.text('Empty for an anonymous user', { example: 'ada@example.com' }),
  email_confirmed_at: f.optional.timeText('Absent until the address is proved'),
  invited_at: f.optional.timeText(),
  phone: f.text('E.164 without the plus sign; empty without a phone', { example: '' }),
  phone_confirmed_at: f.optional.timeText(),
  confirmation_sent_at: f.optional.timeText(),
  confirmed_at: f.optional.timeText(),
  recovery_sent_at: f.optional.timeText(),
  new_email: f.optional.text('The address that waits to be confirmed'),
  email_change_sent_at: f.optional.timeText(),
  reauthentication_sent_at: f.optional.timeText(),
  last_sign_in_at: f.optional.timeText(),
  app_metadata: f.json({ example: { provider: 'email', providers: ['email'] } }),
  user_metadata: f.json({ example: { theme: 'dark' } }),
  factors: f.optional.list(GoTrueFactorResponse),
  identities: f.list(GoTrueIdentityResponse),
  created_at: f.timeText(),
  updated_at: f.timeText(),
  banned_until: f.optional.timeText(),
  is_anonymous: f.flag({ example: false }),
}) {}

export class GoTrueSessionResponse extends f.model({
  access_token: f.text({ example: ACCESS_TOKEN }),
  token_type: f.choice(['bearer']),
  expires_in: f.whole('Seconds', { example: 3600 }),
  expires_at: f.whole({ ...UNIX_SECONDS, example: 1767225600 }),
  refresh_token: f.text({ example: 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy' }),
  provider_token: f.optional.text('Access token of the provider, after a sign-in there'),
  provider_refresh_token: f.optional.text('Refresh token of the provider, if it gave one'),
  user: f.object(GoTrueUserResponse),
}) {}

@f.Example({})
@ApiSchema({ maxProperties: 0, additionalProperties: false } as ApiSchemaOptions)
export class EmptyResponse {}

export class GoTrueUrlResponse extends f.model({
  url: f.text({
    format: 'uri',
    example: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=app&state=q3fD0n7oRzG2',
  }),
}) {}

@f.Example({ version: 'v2.0.0', name: 'GoTrue', description: 'The surface of GoTrue, served by Plinth' })
export class GoTrueHealthResponse extends f.model({
  version: f.text(),
  name: f.text(),
  description: f.text(),
}) {}

export class GoTrueSettingsResponse extends f.model({
  external: f.field<Record<string, boolean>>({
    type: 'object',
    additionalProperties: { type: 'boolean' },
    example: { email: true, phone: false, anonymous_users: false, google: false },
  }),
  disable_signup: f.flag({ example: false }),
  mailer_autoconfirm: f.flag(),
  phone_autoconfirm: f.flag({ example: false }),
  sms_provider: f.text({ example: '' }),
  saml_enabled: f.flag({ example: false }),
}) {}

class GoTrueTotpResponse extends f.model({
  qr_code: f.text('SVG'),
  secret: f.text(),
  uri: f.text(),
}) {}

@f.Example({
  id: UUID_EXAMPLE,
  type: 'totp',
  friendly_name: 'Phone',
  totp: { qr_code: '<svg/>', secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/Acme:ada%40example.com' },
})
export class GoTrueEnrolledResponse extends f.model({
  id: f.uuid(),
  type: f.choice(FACTOR_KINDS),
  friendly_name: f.text({ example: 'Phone' }),
  totp: f.optional.object(GoTrueTotpResponse, 'Of an app'),
  phone: f.optional.text({ example: '4915112345678' }),
}) {}

class GoTrueKeyOptionsResponse extends f.model({
  type: f.choice(['create', 'request']),
  credential_options: f.anyObject('`publicKey`: options for the browser (WebAuthn)'),
}) {}

@f.Example({ id: UUID_EXAMPLE, type: 'totp', expires_at: 1767225600 })
export class GoTrueChallengeResponse extends f.model({
  id: f.uuid(),
  type: f.choice(FACTOR_KINDS),
  expires_at: f.whole(UNIX_SECONDS),
  webauthn: f.optional.object(GoTrueKeyOptionsResponse, 'Of a security key'),
}) {}

export class IdResponse extends f.model({
  id: f.uuid(),
}) {}

export class GoTrueUsersResponse extends f.model({
  users: f.list(GoTrueUserResponse),
  aud: f.text({ example: 'authenticated' }),
}) {}

export class GoTrueLinkResponse extends f.model(GoTrueUserResponse, {
  action_link: f.text({
    example: 'https://plinth.example.com/p/acme/auth/v1/verify?token=Jx2s9Q&type=magiclink',
  }),
  email_otp: f.text('The code', { example: '123456' }),
  hashed_token: f.text('The token of the link, for `verify`', {
    example: 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE',
  }),
  verification_type: f.text({ example: 'magiclink' }),
  redirect_to: f.text({ example: 'https://app.example.com/' }),
}) {}

export class GoTrueVerifiedFactorResponse extends GoTrueFactorResponse {}

class GoTrueAuditPayloadResponse extends f.model({
  actor_id: f.nullable.text(),
  action: f.text(),
  timestamp: f.timeText(),
  traits: f.json(),
}) {}

export class GoTrueAuditResponse extends f.model({
  id: f.text({ example: '1042' }),
  payload: f.object(GoTrueAuditPayloadResponse, {
    example: { actor_id: UUID_EXAMPLE, action: 'sign_in', timestamp: AT, traits: {} },
  }),
  created_at: f.timeText(),
  ip_address: f.text({ example: '203.0.113.7' }),
}) {}
