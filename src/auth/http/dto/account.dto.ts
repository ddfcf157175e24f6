/** Bodies of the endpoints for users. Other members of a body are dropped by the validation pipe. */
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty } from 'class-validator';
import { FreeJson } from '../../../http/input/free-json';
import type { JsonObject } from '../../../common/text/json';
import { LOGOUT_SCOPES, type LogoutScope } from '../../sessions/session';
import { MAX_EMAIL } from '../../../identity/email-address';
import { IsName, IsText } from '../../../identity/http/checks';
import { CaptchaMember } from '../captcha.interceptor';
import { Example } from '../../../http/docs/example.decorator';
import { FREE_OBJECT } from '../../../http/docs/documented-types';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

/** Characters. The password policy has a stricter limit, in bytes. */
const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 1_000;

const REFRESH_TOKEN = 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';

@Example({ email: 'ada@example.com', password: 'correct horse', name: 'Ada' })
export class SignUpDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ max: MAX_EMAIL })
  email!: string;

  @ApiProperty({
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
    description: 'At least 6 characters, or more if the project says so; at most 72 bytes of UTF-8',
  })
  @IsText({ max: MAX_PASSWORD })
  password!: string;

  @OptionalProperty({
    type: String,
    nullable: true,
    maxLength: 200,
    example: 'Ada',
    description: 'Default: the part of the email before the at-sign',
  })
  @IsName()
  name?: string | null;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ email: 'ada@example.com', password: 'correct horse' })
export class SignInDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @ApiProperty({ minLength: 1, maxLength: MAX_PASSWORD, example: 'correct horse' })
  @IsText({ min: 1, max: MAX_PASSWORD })
  password!: string;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ login: 'ada', password: 'correct horse' })
export class LdapSignInDto {
  @ApiProperty({
    minLength: 1,
    maxLength: 256,
    example: 'ada',
    description: 'As the filter of the directory has it',
  })
  @IsText({ min: 1, max: 256 })
  login!: string;

  @ApiProperty({ minLength: 1, maxLength: MAX_PASSWORD, example: 'correct horse' })
  @IsText({ min: 1, max: MAX_PASSWORD })
  password!: string;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ refresh_token: REFRESH_TOKEN })
export class RefreshDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_TOKEN,
    description: 'The refresh_token of the session',
    example: REFRESH_TOKEN,
  })
  @IsText({ min: 1, max: MAX_TOKEN })
  refresh_token!: string;
}

@Example({ email: 'ada@example.com' })
export class EmailDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  email!: string;

  @CaptchaMember()
  gotrue_meta_security?: JsonObject;
}

@Example({ token: MAILED_TOKEN })
class TokenDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_TOKEN,
    description: 'The token from the mail',
    example: MAILED_TOKEN,
  })
  @IsText({ min: 1, max: MAX_TOKEN })
  token!: string;
}

@Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class UpdatePasswordDto extends TokenDto {
  @ApiProperty({
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
    description: 'The new password: at least 6 characters, at most 72 bytes',
  })
  @IsText({ max: MAX_PASSWORD })
  password!: string;
}

@Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class VerifyEmailDto extends TokenDto {
  @OptionalProperty({
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
    description:
      'The password of the account from the first proof of its address on: at least 6 characters, at most 72 bytes',
  })
  @IsText({ max: MAX_PASSWORD })
  password?: string;
}

@Example({ scope: 'local' })
export class LogoutDto {
  @OptionalProperty({
    enum: LOGOUT_SCOPES,
    description: '`local` ends this session, `others` all other ones, `global` all; default: `local`',
  })
  @IsIn(LOGOUT_SCOPES)
  scope?: LogoutScope | null;
}

@Example({ name: 'Ada Lovelace', data: { theme: 'dark' } })
export class UpdateUserDto {
  @OptionalProperty({ minLength: 1, maxLength: 200, example: 'Ada Lovelace' })
  @IsName()
  @IsNotEmpty()
  name?: string;

  @OptionalProperty({
    format: 'email',
    example: 'ada@example.org',
    description: 'Takes effect when its mailed token is confirmed',
  })
  @IsText({ max: MAX_EMAIL })
  email?: string;

  @OptionalProperty({ minLength: 6, maxLength: 72, description: 'Ends all other sessions' })
  @IsText({ max: MAX_PASSWORD })
  password?: string;

  @OptionalProperty({ description: 'Required with password' })
  @IsText({ max: MAX_PASSWORD })
  current_password?: string;

  @OptionalProperty({
    ...FREE_OBJECT,
    description: 'Replaces the previous data',
  })
  @FreeJson()
  data?: JsonObject;
}
