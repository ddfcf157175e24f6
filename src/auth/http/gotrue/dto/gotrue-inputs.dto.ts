/** Bodies and queries of GoTrue's paths. Members that Plinth does not know are dropped. */
import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsBoolean, IsIn, IsObject, IsUUID, ValidateNested } from 'class-validator';
import type { JsonObject } from '../../../../common/text/json';
import { FREE_OBJECT, UUID_EXAMPLE } from '../../../../http/docs/documented-types';
import { Example } from '../../../../http/docs/example.decorator';
import { FreeJson } from '../../../../http/input/free-json';
import { OptionalProperty } from '../../../../http/input/optional-property.decorator';
import { WholeNumber } from '../../../../http/input/whole-number';
import { MAX_EMAIL } from '../../../../identity/email-address';
import { IsText } from '../../../../identity/http/checks';
import { CaptchaMember } from '../../captcha.interceptor';
import { LOGOUT_SCOPES, type LogoutScope } from '../../../sessions/session';

const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 4_000;
const MAX_ID_TOKEN = 16_384;
const MAX_URL = 2_000;
const PASSWORD = 'correct horse';
const EMAIL = 'ada@example.com';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** An empty text is the same as an absent one. */
const EmptyIsAbsent = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === '' ? undefined : value));

export class RedirectQuery {
  @OptionalProperty({
    description: 'Where the link of the mail leads: an address of the list of the project',
  })
  @IsText({ max: MAX_URL })
  @EmptyIsAbsent()
  redirect_to?: string;
}

export class PkceDto {
  @OptionalProperty({ description: 'PKCE (RFC 7636)', example: CHALLENGE })
  @IsText({ max: 200 })
  @EmptyIsAbsent()
  code_challenge?: string;

  @OptionalProperty({ enum: ['s256', 'plain'], type: String, description: 'PKCE (RFC 7636)' })
  @IsText({ max: 20 })
  @EmptyIsAbsent()
  code_challenge_method?: string;
}

export class LinkIdentityQuery extends PkceDto {
  @ApiProperty({ example: 'google', description: 'Name of a provider of the project' })
  @IsText({ max: 100 })
  provider!: string;

  @OptionalProperty({ description: 'Where the way back leads: an address of the list of the project' })
  @IsText({ max: MAX_URL })
  @EmptyIsAbsent()
  redirect_to?: string;

  @OptionalProperty({ description: 'Further scopes, separated by spaces' })
  @IsText({ max: 500 })
  scopes?: string;
}

class AddressDto extends PkceDto {
  @OptionalProperty({ format: 'email', maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ max: MAX_EMAIL })
  @EmptyIsAbsent()
  email?: string;

  @OptionalProperty({ description: 'Not supported' })
  @IsText({ max: 50 })
  @EmptyIsAbsent()
  phone?: string;
}

@Example({ email: EMAIL, password: PASSWORD, data: { theme: 'dark' } })
export class GoTrueSignUpDto extends AddressDto {
  @OptionalProperty({ minLength: 6, maxLength: 72, example: PASSWORD })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ ...FREE_OBJECT, description: '`user_metadata` of the new user' })
  @FreeJson()
  data?: JsonObject;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ email: EMAIL, create_user: true })
export class GoTrueOtpDto extends AddressDto {
  @OptionalProperty({ description: 'Creates an account if none has the address; default: true' })
  @IsBoolean()
  create_user?: boolean;

  @OptionalProperty({ ...FREE_OBJECT, description: '`user_metadata` of a new user' })
  @FreeJson()
  data?: JsonObject;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ email: EMAIL })
export class GoTrueEmailDto extends PkceDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

export const RESEND_TYPES = ['signup', 'email_change', 'sms', 'phone_change'] as const;

@Example({ type: 'signup', email: EMAIL })
export class GoTrueResendDto extends AddressDto {
  @ApiProperty({ enum: RESEND_TYPES })
  @IsIn(RESEND_TYPES)
  type!: (typeof RESEND_TYPES)[number];

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

export const GRANT_TYPES = ['password', 'refresh_token', 'pkce', 'id_token', 'web3'] as const;

export class GrantQuery {
  @ApiProperty({
    enum: GRANT_TYPES,
    example: 'password',
    description: '`web3` is refused',
  })
  @IsIn(GRANT_TYPES)
  grant_type!: (typeof GRANT_TYPES)[number];
}

@Example({ email: EMAIL, password: PASSWORD })
export class GoTrueTokenDto {
  @OptionalProperty({ maxLength: MAX_EMAIL, example: EMAIL, description: 'Of `password`' })
  @IsText({ max: MAX_EMAIL })
  email?: string;

  @OptionalProperty({ description: 'Not supported' })
  @IsText({ max: 50 })
  @EmptyIsAbsent()
  phone?: string;

  @OptionalProperty({ maxLength: MAX_PASSWORD, description: 'Of `password`' })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ description: 'Of `refresh_token`' })
  @IsText({ max: MAX_TOKEN })
  refresh_token?: string;

  @OptionalProperty({
    description: 'Of `pkce`: the code that the link of a mail or the way back from a provider gave',
  })
  @IsText({ max: MAX_TOKEN })
  auth_code?: string;

  @OptionalProperty({ description: 'Of `pkce`' })
  @IsText({ max: 200 })
  code_verifier?: string;

  @OptionalProperty({ description: 'Of `id_token`: name of a provider of the project', example: 'google' })
  @IsText({ max: 100 })
  provider?: string;

  @OptionalProperty({
    description: 'Of `id_token`: the token that the provider issued for a client of the project',
  })
  @IsText({ max: MAX_ID_TOKEN })
  id_token?: string;

  @OptionalProperty({ description: 'Of `id_token`: the access token that `at_hash` was made of' })
  @IsText({ max: MAX_ID_TOKEN })
  access_token?: string;

  @OptionalProperty({
    description: 'Of `id_token`: the text whose SHA-256, in hexadecimal, is the `nonce` of the token',
  })
  @IsText({ max: 500 })
  @EmptyIsAbsent()
  nonce?: string;

  @OptionalProperty({ description: 'Of `id_token`: not supported' })
  @IsBoolean()
  link_identity?: boolean;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

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
export class GoTrueVerifyDto {
  @ApiProperty({ enum: VERIFY_TYPES })
  @IsIn(VERIFY_TYPES)
  type!: VerifyType;

  @OptionalProperty({ description: 'The code of the mail', example: '123456' })
  @IsText({ max: MAX_TOKEN })
  @EmptyIsAbsent()
  token?: string;

  @OptionalProperty({
    description: 'The token of the link, in place of email and code',
    example: MAILED_TOKEN,
  })
  @IsText({ max: MAX_TOKEN })
  @EmptyIsAbsent()
  token_hash?: string;

  @OptionalProperty({ maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ max: MAX_EMAIL })
  @EmptyIsAbsent()
  email?: string;

  @OptionalProperty({ description: 'Not supported' })
  @IsText({ max: 50 })
  @EmptyIsAbsent()
  phone?: string;
}

@Example({ data: { theme: 'dark' } })
export class GoTrueUpdateUserDto extends AddressDto {
  @OptionalProperty({ minLength: 6, maxLength: 72, description: 'Ends all other sessions' })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ description: 'The current password; checked if given' })
  @IsText({ max: MAX_PASSWORD })
  current_password?: string;

  @OptionalProperty({ description: 'The code of a mail of `reauthenticate`', example: '123456' })
  @IsText({ max: 50 })
  @EmptyIsAbsent()
  nonce?: string;

  @OptionalProperty({ ...FREE_OBJECT, description: 'Merged into `user_metadata`; null removes a member' })
  @FreeJson()
  data?: JsonObject;
}

export class LogoutQuery {
  @OptionalProperty({ enum: LOGOUT_SCOPES, description: 'Default: `global`' })
  @IsIn(LOGOUT_SCOPES)
  scope?: LogoutScope;
}

@Example({ factor_type: 'totp', friendly_name: 'Phone' })
export class GoTrueEnrolDto {
  @ApiProperty({ enum: ['totp', 'phone', 'webauthn'], description: '`phone` is not supported' })
  @IsIn(['totp', 'phone', 'webauthn'])
  factor_type!: string;

  @OptionalProperty({ maxLength: 200, example: 'Phone' })
  @IsText({ max: 200 })
  friendly_name?: string;

  @OptionalProperty({ maxLength: 200, description: 'Ignored: apps show the name of the project' })
  @IsText({ max: 200 })
  issuer?: string;
}

export class GoTrueKeyPartyDto {
  @OptionalProperty({ maxLength: 253, example: 'example.com', description: 'Default: that of the `Origin`' })
  @IsText({ max: 253 })
  rpId?: string;
}

@Example({ webauthn: { rpId: 'example.com' } })
export class GoTrueChallengeDto {
  @OptionalProperty({ type: GoTrueKeyPartyDto, description: 'Of a security key' })
  @ValidateNested()
  @Type(() => GoTrueKeyPartyDto)
  webauthn?: GoTrueKeyPartyDto;
}

export class GoTrueKeyAnswerDto {
  @ApiProperty({ ...FREE_OBJECT, description: '`toJSON()` of the credential of the browser' })
  @IsObject()
  @FreeJson()
  credential_response!: JsonObject;
}

@Example({ challenge_id: UUID_EXAMPLE, code: '123456' })
export class GoTrueVerifyFactorDto {
  @ApiProperty({ format: 'uuid' })
  @IsText({ min: 1, max: 100 })
  challenge_id!: string;

  @OptionalProperty({ example: '123456', description: 'Of an app' })
  @IsText({ min: 1, max: 50 })
  code?: string;

  @OptionalProperty({ type: GoTrueKeyAnswerDto, description: 'Of a security key' })
  @ValidateNested()
  @Type(() => GoTrueKeyAnswerDto)
  webauthn?: GoTrueKeyAnswerDto;
}

export class GoTruePageQuery {
  @OptionalProperty({ description: 'Default: 1' })
  @EmptyIsAbsent()
  @WholeNumber(1, 1_000_000)
  page?: number;

  @OptionalProperty({ description: 'Default: 50' })
  @EmptyIsAbsent()
  @WholeNumber(1, 1_000)
  per_page?: number;

  @OptionalProperty({ description: 'Part of the email address or the name' })
  @IsText({ max: MAX_EMAIL })
  @EmptyIsAbsent()
  filter?: string;
}

class AdminFieldsDto {
  @OptionalProperty({ format: 'email', maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ max: MAX_EMAIL })
  @EmptyIsAbsent()
  email?: string;

  @OptionalProperty({ description: 'Not supported' })
  @IsText({ max: 50 })
  @EmptyIsAbsent()
  phone?: string;

  @OptionalProperty({ minLength: 6, maxLength: 72 })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ description: 'bcrypt ($2a$, $2b$, $2y$), as another system exported it' })
  @IsText({ max: 100 })
  password_hash?: string;

  @OptionalProperty({ description: 'Whether the address counts as confirmed' })
  @IsBoolean()
  email_confirm?: boolean;

  @OptionalProperty({ ...FREE_OBJECT, description: 'Merged; null removes a member' })
  @FreeJson()
  user_metadata?: JsonObject;

  @OptionalProperty({ ...FREE_OBJECT, description: 'Merged; null removes a member. At most 1,024 bytes' })
  @FreeJson()
  app_metadata?: JsonObject;

  @OptionalProperty({ description: '`24h`, `90m`, `30s` or `none`', example: '24h' })
  @IsText({ max: 50 })
  ban_duration?: string;
}

@Example({ email: EMAIL, password: PASSWORD, email_confirm: true })
export class GoTrueCreateUserDto extends AdminFieldsDto {
  @OptionalProperty({ format: 'uuid', description: 'Default: a new one' })
  @IsUUID()
  id?: string;
}

@Example({ app_metadata: { roles: ['editor'] } })
export class GoTrueAdminUpdateDto extends AdminFieldsDto {}

@Example({ should_soft_delete: false })
export class GoTrueDeleteUserDto {
  @OptionalProperty({ description: 'Refused if true' })
  @IsBoolean()
  should_soft_delete?: boolean;
}

@Example({ email: EMAIL, data: { theme: 'dark' } })
export class GoTrueInviteDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @OptionalProperty({ ...FREE_OBJECT, description: '`user_metadata` of the new user' })
  @FreeJson()
  data?: JsonObject;
}

export const LINK_TYPES = [
  'signup',
  'invite',
  'magiclink',
  'recovery',
  'email_change_current',
  'email_change_new',
] as const;

@Example({ type: 'magiclink', email: EMAIL })
export class GoTrueGenerateLinkDto {
  @ApiProperty({ enum: LINK_TYPES })
  @IsIn(LINK_TYPES)
  type!: (typeof LINK_TYPES)[number];

  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: EMAIL })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @OptionalProperty({ maxLength: MAX_EMAIL, description: 'Of the types `email_change_...`' })
  @IsText({ max: MAX_EMAIL })
  @EmptyIsAbsent()
  new_email?: string;

  @OptionalProperty({ minLength: 6, maxLength: 72, description: 'Of the type `signup`' })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ ...FREE_OBJECT, description: '`user_metadata` of a new user' })
  @FreeJson()
  data?: JsonObject;

  @OptionalProperty({ description: 'Where the link leads' })
  @IsText({ max: MAX_URL })
  @EmptyIsAbsent()
  redirect_to?: string;
}
