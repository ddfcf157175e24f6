/** Answers of GoTrue's paths. */
import { ApiProperty, ApiPropertyOptional, ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import type { JsonObject } from '../../../../common/text/json';
import { FREE_OBJECT, UNIX_SECONDS, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Example } from '../../../../http/docs/example.decorator';
import { FACTOR_KINDS } from '../../../factors/factor';

const DATE = { type: String, format: 'date-time' } as const;
const AT = '2026-01-01T08:00:00.000Z';

export class GoTrueFactorResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() friendly_name!: string;
  @ApiProperty({ enum: FACTOR_KINDS }) factor_type!: string;
  @ApiProperty({ enum: ['verified', 'unverified'] }) status!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

export class GoTrueIdentityResponse {
  @ApiProperty({ format: 'uuid' }) identity_id!: string;
  @ApiProperty({ description: 'The id of the user at the provider' }) id!: string;
  @ApiProperty({ format: 'uuid' }) user_id!: string;
  @ApiProperty(FREE_OBJECT) identity_data!: JsonObject;
  @ApiProperty() provider!: string;
  @ApiProperty({ ...DATE, nullable: true }) last_sign_in_at!: string | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
  @ApiProperty() email!: string;
}

const IDENTITY = {
  identity_id: UUID_EXAMPLE,
  id: UUID_EXAMPLE,
  user_id: UUID_EXAMPLE,
  identity_data: {
    sub: UUID_EXAMPLE,
    email: 'ada@example.com',
    email_verified: true,
    phone_verified: false,
  },
  provider: 'email',
  last_sign_in_at: AT,
  created_at: AT,
  updated_at: AT,
  email: 'ada@example.com',
};

export const USER_EXAMPLE = {
  id: UUID_EXAMPLE,
  aud: 'authenticated',
  role: 'authenticated',
  email: 'ada@example.com',
  email_confirmed_at: AT,
  phone: '',
  confirmed_at: AT,
  last_sign_in_at: AT,
  app_metadata: { provider: 'email', providers: ['email'] },
  user_metadata: { theme: 'dark' },
  identities: [IDENTITY],
  created_at: AT,
  updated_at: AT,
  is_anonymous: false,
};

@Example(USER_EXAMPLE)
export class GoTrueUserResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty() aud!: string;
  @ApiProperty() role!: string;
  @ApiProperty({ description: 'Empty for an anonymous user' }) email!: string;
  @ApiPropertyOptional({ ...DATE, description: 'Absent until the address is proved' })
  email_confirmed_at?: string;
  @ApiPropertyOptional(DATE) invited_at?: string;
  @ApiProperty({ description: 'Always empty' }) phone!: string;
  @ApiPropertyOptional(DATE) confirmation_sent_at?: string;
  @ApiPropertyOptional(DATE) confirmed_at?: string;
  @ApiPropertyOptional(DATE) recovery_sent_at?: string;
  @ApiPropertyOptional({ description: 'The address that waits to be confirmed' }) new_email?: string;
  @ApiPropertyOptional(DATE) email_change_sent_at?: string;
  @ApiPropertyOptional(DATE) reauthentication_sent_at?: string;
  @ApiPropertyOptional(DATE) last_sign_in_at?: string;
  @ApiProperty(FREE_OBJECT) app_metadata!: JsonObject;
  @ApiProperty(FREE_OBJECT) user_metadata!: JsonObject;
  @ApiPropertyOptional({ type: [GoTrueFactorResponse] }) factors?: GoTrueFactorResponse[];
  @ApiProperty({ type: [GoTrueIdentityResponse] }) identities!: GoTrueIdentityResponse[];
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
  @ApiPropertyOptional(DATE) banned_until?: string;
  @ApiProperty() is_anonymous!: boolean;
}

const SESSION = {
  access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImsxIn0.eyJzdWIiOiIwYjZmIn0.c2lnbmF0dXJl',
  token_type: 'bearer',
  expires_in: 3600,
  expires_at: 1767225600,
  refresh_token: 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy',
};

@Example({ ...SESSION, user: USER_EXAMPLE })
export class GoTrueSessionResponse {
  @ApiProperty() access_token!: string;
  @ApiProperty({ enum: ['bearer'] }) token_type!: 'bearer';
  @ApiProperty({ type: 'integer', description: 'Seconds' }) expires_in!: number;
  @ApiProperty(UNIX_SECONDS) expires_at!: number;
  @ApiProperty() refresh_token!: string;
  @ApiPropertyOptional({ description: 'Access token of the provider, after a sign-in there' })
  provider_token?: string;
  @ApiPropertyOptional({ description: 'Refresh token of the provider, if it gave one' })
  provider_refresh_token?: string;
  @ApiProperty({ type: GoTrueUserResponse }) user!: GoTrueUserResponse;
}

@Example({})
@ApiSchema({ maxProperties: 0, additionalProperties: false } as ApiSchemaOptions)
export class EmptyResponse {}

@Example({ url: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=app&state=q3fD0n7oRzG2' })
export class GoTrueUrlResponse {
  @ApiProperty({ format: 'uri' }) url!: string;
}

@Example({ version: 'v2.0.0', name: 'GoTrue', description: 'The surface of GoTrue, served by Plinth' })
export class GoTrueHealthResponse {
  @ApiProperty() version!: string;
  @ApiProperty() name!: string;
  @ApiProperty() description!: string;
}

@Example({
  external: { email: true, phone: false, anonymous_users: false, google: false },
  disable_signup: false,
  mailer_autoconfirm: true,
  phone_autoconfirm: false,
  sms_provider: '',
  saml_enabled: false,
})
export class GoTrueSettingsResponse {
  @ApiProperty({ type: 'object', additionalProperties: { type: 'boolean' } })
  external!: Record<string, boolean>;
  @ApiProperty() disable_signup!: boolean;
  @ApiProperty() mailer_autoconfirm!: boolean;
  @ApiProperty() phone_autoconfirm!: boolean;
  @ApiProperty() sms_provider!: string;
  @ApiProperty() saml_enabled!: boolean;
}

class GoTrueTotpResponse {
  @ApiProperty({ description: 'SVG' }) qr_code!: string;
  @ApiProperty() secret!: string;
  @ApiProperty() uri!: string;
}

@Example({
  id: UUID_EXAMPLE,
  type: 'totp',
  friendly_name: 'Phone',
  totp: {
    qr_code: '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    secret: 'JBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/Acme:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Acme',
  },
})
export class GoTrueEnrolledResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: FACTOR_KINDS }) type!: string;
  @ApiProperty() friendly_name!: string;
  @ApiPropertyOptional({ type: GoTrueTotpResponse, description: 'Of an app' }) totp?: GoTrueTotpResponse;
}

class GoTrueKeyOptionsResponse {
  @ApiProperty({ enum: ['create', 'request'] }) type!: string;
  @ApiProperty({ ...FREE_OBJECT, description: '`publicKey`: options for the browser (WebAuthn)' })
  credential_options!: object;
}

@Example({ id: UUID_EXAMPLE, type: 'totp', expires_at: 1767225600 })
export class GoTrueChallengeResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ enum: FACTOR_KINDS }) type!: string;
  @ApiProperty(UNIX_SECONDS) expires_at!: number;
  @ApiPropertyOptional({ type: GoTrueKeyOptionsResponse, description: 'Of a security key' })
  webauthn?: GoTrueKeyOptionsResponse;
}

@Example({ id: UUID_EXAMPLE })
export class IdResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
}

@Example({ users: [USER_EXAMPLE], aud: 'authenticated' })
export class GoTrueUsersResponse {
  @ApiProperty({ type: [GoTrueUserResponse] }) users!: GoTrueUserResponse[];
  @ApiProperty() aud!: string;
}

@Example({
  ...USER_EXAMPLE,
  action_link: 'https://plinth.example.com/p/acme/auth/v1/verify?token=Jx2s9Q&type=magiclink',
  email_otp: '123456',
  hashed_token: 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE',
  verification_type: 'magiclink',
  redirect_to: 'https://app.example.com/',
})
export class GoTrueLinkResponse extends GoTrueUserResponse {
  @ApiProperty() action_link!: string;
  @ApiProperty({ description: 'The code' }) email_otp!: string;
  @ApiProperty({ description: 'The token of the link, for `verify`' }) hashed_token!: string;
  @ApiProperty() verification_type!: string;
  @ApiProperty() redirect_to!: string;
}

const FACTOR = {
  id: UUID_EXAMPLE,
  friendly_name: 'Phone',
  factor_type: 'totp',
  status: 'verified',
  created_at: AT,
  updated_at: AT,
};

@Example(FACTOR)
export class GoTrueVerifiedFactorResponse extends GoTrueFactorResponse {}

class GoTrueAuditPayloadResponse {
  @ApiProperty({ type: String, nullable: true }) actor_id!: string | null;
  @ApiProperty() action!: string;
  @ApiProperty({ format: 'date-time' }) timestamp!: string;
  @ApiProperty(FREE_OBJECT) traits!: JsonObject;
}

@Example({
  id: '1042',
  payload: { actor_id: UUID_EXAMPLE, action: 'sign_in', timestamp: AT, traits: {} },
  created_at: AT,
  ip_address: '203.0.113.7',
})
export class GoTrueAuditResponse {
  @ApiProperty() id!: string;
  @ApiProperty({ type: GoTrueAuditPayloadResponse }) payload!: GoTrueAuditPayloadResponse;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty() ip_address!: string;
}
