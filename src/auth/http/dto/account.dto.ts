/** Bodies of the endpoints for users. Other members of a body are dropped by the validation pipe. */
import { IsNotEmpty } from 'class-validator';
import { LOGOUT_SCOPES } from '../../sessions/session';
import { MAX_EMAIL } from '../../../identity/email-address';
import { CAPTCHA } from '../captcha.interceptor';
import * as f from '../../../http/model/fields';

/** Characters. The password policy has a stricter limit, in bytes. */
const MAX_PASSWORD = 1_000;
const MAX_TOKEN = 1_000;

const REFRESH_TOKEN = 'q3fD0n7oRzG2c8bXy1Jk5w.1.Zm9vYmFy';
const MAILED_TOKEN = 'Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE';

export class SignUpDto extends f.model({
  email: f.text({ max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  password: f.text('At least 6 characters, or more if the project says so; at most 72 bytes of UTF-8', {
    max: MAX_PASSWORD,
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
  }),
  name: f.optional(
    f.nullable.text('Default: the part of the email before the at-sign', { max: 200, example: 'Ada' }),
  ),
  gotrue_meta_security: CAPTCHA,
}) {}

export class SignInDto extends f.model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
  gotrue_meta_security: CAPTCHA,
}) {}

export class LdapSignInDto extends f.model({
  login: f.text('The login, as the filter of the directory expects it', { min: 1, max: 256, example: 'ada' }),
  password: f.text({ min: 1, max: MAX_PASSWORD, example: 'correct horse' }),
  gotrue_meta_security: CAPTCHA,
}) {}

export class RefreshDto extends f.model({
  refresh_token: f.text('The refresh_token of the session', {
    min: 1,
    max: MAX_TOKEN,
    example: REFRESH_TOKEN,
  }),
}) {}

export class EmailDto extends f.model({
  email: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
  gotrue_meta_security: CAPTCHA,
}) {}

class TokenDto extends f.model({
  token: f.text('The token from the mail', { min: 1, max: MAX_TOKEN, example: MAILED_TOKEN }),
}) {}

@f.Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class UpdatePasswordDto extends f.model(TokenDto, {
  password: f.text('The new password: at least 6 characters, at most 72 bytes', {
    max: MAX_PASSWORD,
    minLength: 6,
    maxLength: 72,
    example: 'correct horse',
  }),
}) {}

@f.Example({ token: MAILED_TOKEN, password: 'correct horse' })
export class VerifyEmailDto extends f.model(TokenDto, {
  password: f.optional.text(
    'The password of the account from the first proof of its address on: at least 6 characters, at most 72 bytes',
    { max: MAX_PASSWORD, minLength: 6, maxLength: 72, example: 'correct horse' },
  ),
}) {}

export class LogoutDto extends f.model({
  scope: f.optional.choice(
    LOGOUT_SCOPES,
    '`local` ends this session, `others` all other ones, `global` all; default: `local`',
    { example: 'local' },
  ),
}) {}

@f.Example({ name: 'Ada Lovelace', data: { theme: 'dark' } })
export class UpdateUserDto extends f.model({
  name: f.optional.text({ max: 200, minLength: 1, example: 'Ada Lovelace', checks: [IsNotEmpty()] }),
  email: f.optional.text('Takes effect when its mailed token is confirmed', {
    max: MAX_EMAIL,
    format: 'email',
    example: 'ada@example.org',
  }),
  password: f.optional.text('Ends all other sessions', { max: MAX_PASSWORD, minLength: 6, maxLength: 72 }),
  current_password: f.optional.text('Required with password', { max: MAX_PASSWORD }),
  data: f.optional.json('Replaces the previous data'),
}) {}
