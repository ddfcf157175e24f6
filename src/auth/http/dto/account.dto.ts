/** Bodies of the endpoints for users. Other members of a body are dropped by the validation pipe. */
import { IsNotEmpty } from 'class-validator';
import { LOGOUT_SCOPES } from '../../sessions/session';
import { MAX_EMAIL } from '../../../identity/email-address';
import { CAPTCHA } from '../captcha.interceptor';
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

/** Characters. The password policy has a stricter limit, in bytes. */
const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 1_000;

const REFRESH_TOKEN = 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';

export class SignUpDto extends model({
  email: f.text({ max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  password: f.text({
    max: MAX_PASSWORD,
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
    description: 'At least 6 characters, or more if the project says so; at most 72 bytes of UTF-8',
  }),
  name: f.optional(
    f.nullable(
      f.text({ max: 200, example: 'Ada', description: 'Default: the part of the email before the at-sign' }),
    ),
  ),
  gotrue_meta_security: CAPTCHA,
}) {}

export class SignInDto extends model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
  gotrue_meta_security: CAPTCHA,
}) {}

export class LdapSignInDto extends model({
  login: f.text({ min: 1, max: 256, example: 'ada', description: 'As the filter of the directory has it' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
  gotrue_meta_security: CAPTCHA,
}) {}

export class RefreshDto extends model({
  refresh_token: f.text({
    min: 1,
    max: MAX_TOKEN,
    description: 'The refresh_token of the session',
    example: REFRESH_TOKEN,
  }),
}) {}

export class EmailDto extends model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  gotrue_meta_security: CAPTCHA,
}) {}

class TokenDto extends model({
  token: f.text({ min: 1, max: MAX_TOKEN, description: 'The token from the mail', example: MAILED_TOKEN }),
}) {}

@Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class UpdatePasswordDto extends model(TokenDto, {
  password: f.text({
    max: MAX_PASSWORD,
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
    description: 'The new password: at least 6 characters, at most 72 bytes',
  }),
}) {}

@Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class VerifyEmailDto extends model(TokenDto, {
  password: f.optional(
    f.text({
      max: MAX_PASSWORD,
      minLength: 6,
      maxLength: 72,
      example: 'correct horse',
      description:
        'The password of the account from the first proof of its address on: at least 6 characters, at most 72 bytes',
    }),
  ),
}) {}

export class LogoutDto extends model({
  scope: f.optional(
    f.choice(LOGOUT_SCOPES, {
      description: '`local` ends this session, `others` all other ones, `global` all; default: `local`',
      example: 'local',
    }),
  ),
}) {}

@Example({ name: 'Ada Lovelace', data: { theme: 'dark' } })
export class UpdateUserDto extends model({
  name: f.optional(f.text({ max: 200, minLength: 1, example: 'Ada Lovelace', checks: [IsNotEmpty()] })),
  email: f.optional(
    f.text({
      max: MAX_EMAIL,
      format: 'email',
      example: 'ada@example.org',
      description: 'Takes effect when its mailed token is confirmed',
    }),
  ),
  password: f.optional(
    f.text({ max: MAX_PASSWORD, minLength: 6, maxLength: 72, description: 'Ends all other sessions' }),
  ),
  current_password: f.optional(f.text({ max: MAX_PASSWORD, description: 'Required with password' })),
  data: f.optional(f.json('Replaces the previous data')),
}) {}
