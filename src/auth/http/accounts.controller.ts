/** Endpoints for users who are not signed in: they need the apikey only. */
import { Body, Controller, Post } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { invalidParameters } from '../../common/errors/app-error';
import { EmailVerificationService } from '../mail/email-verification.service';
import { RequestedMails } from '../mail/requested-mails.service';
import { PasswordResetService } from '../passwords/password-reset.service';
import type { Sender } from '../../identity/request-origin';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionService } from '../sessions/session.service';
import { LdapSignIn } from '../directories/ldap-sign-in.service';
import { SignInService } from '../sessions/sign-in.service';
import { type SignedUp, SignUpService } from '../sessions/sign-up.service';
import {
  addressNotProved,
  claimsTooLarge,
  domainNotAllowed,
  emailNotVerified,
  emailTaken,
  invalidMailedToken,
  invalidRefreshToken,
  ldapDisabled,
  noAddress,
  signUpDisabled,
  userBanned,
} from '../auth.errors';
import { directoryFailed, invalidEmail, wrongCredentials } from '../../identity/identity.errors';
import { LIMIT_HEADERS } from '../../identity/http/client-throttler.guard';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { Captcha } from './captcha.interceptor';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import {
  EmailDto,
  LdapSignInDto,
  RefreshDto,
  SignInDto,
  SignUpDto,
  UpdatePasswordDto,
  VerifyEmailDto,
} from './dto/account.dto';
import { MessageAnswer, MessageResponse, SignedInResponse, SignedUpResponse } from './dto/auth-responses';
import { hookFailed, hookRefused } from '../hooks/hook.errors';
import { Answer, Describe, Errors, SharedErrors, together } from '../../http/docs/operation.decorators';

const SIGN_UP_ERRORS = together(
  Errors(invalidParameters('email must be a string'), invalidEmail(), emailTaken(), domainNotAllowed()),
  Errors(
    signUpDisabled(),
    hookRefused(403, 'Only addresses of example.com'),
    hookFailed('before_user_created_hook', null),
  ),
);

const VERIFY_EMAIL_MESSAGES = {
  confirmed: 'The email address has been confirmed',
  'without password':
    'The email address has been confirmed. The account has no password: reset-password sets one',
};
const RESET_SENT = 'If an account with this email exists, a mail with a reset link is on its way';
const PASSWORD_UPDATED = 'The password has been updated';
const VERIFICATION_SENT = 'If the address waits to be confirmed, a mail with a link is on its way';
const VERIFY_EMAIL_ERRORS = Errors(
  invalidParameters('token should not be empty'),
  tooShortPassword(),
  emailTaken(),
  invalidMailedToken(),
);

@AuthApi('apikey')
@SharedErrors(tooManyRequests())
@Controller('v1/auth/:project_id')
export class AccountsController {
  constructor(
    private readonly signUps: SignUpService,
    private readonly signIns: SignInService,
    private readonly ldap: LdapSignIn,
    private readonly sessions: SessionService,
    private readonly resets: PasswordResetService,
    private readonly mails: RequestedMails,
    private readonly verification: EmailVerificationService,
  ) {}

  @Post('signup')
  @Captcha()
  @Describe(`Sign up
    Creates an account and signs it in. Needs the apikey only. Settings of the project can turn sign-up off, restrict it to e-mail domains, or require a verified address first (\`session\` is then null, and a verification mail is sent). Counts against the limit of requests per client address.`)
  @Answer(201, 'The user and a session', SignedUpResponse, LIMIT_HEADERS)
  @SIGN_UP_ERRORS
  signUp(@CurrentSender() from: Sender, @Body() { email, password, name }: SignUpDto): Promise<SignedUp> {
    return this.signUps.signUp(from, { email, password, name });
  }

  // GuessThrottle slows down guesses. A request limit would refuse an office whose users all sign in at nine.
  @Post('login')
  @Captcha()
  @SkipThrottle()
  @Describe(`Sign in
    Starts a session. Needs the apikey only. An unknown address and a wrong password get the same answer in the same time. Failed attempts delay further ones, by account and by client address (429).`)
  @Answer(200, 'The user and a session', SignedInResponse)
  @Errors(invalidParameters('email should not be empty'), wrongCredentials(), emailNotVerified())
  @Errors(userBanned(), hookRefused(403, 'Your licence has ended'))
  @Errors(hookFailed('password_verification_attempt_hook', null))
  signIn(@CurrentSender() from: Sender, @Body() { email, password }: SignInDto): Promise<SignedIn> {
    return this.signIns.signIn(from, { email, password });
  }

  @Post('ldap')
  @Captcha()
  @SkipThrottle()
  @Describe(`Sign in with LDAP
    Starts a session with the password of the project's directory (setting "ldap"). Needs the apikey only. An unknown login and a wrong password get the same answer. Failed attempts delay further ones, by login and by client address (429).`)
  @Answer(200, 'The user and a session', SignedInResponse)
  @Errors(invalidParameters('login should not be empty'), wrongCredentials(), ldapDisabled())
  @Errors(directoryFailed(), addressNotProved(), noAddress(), claimsTooLarge(1_024), userBanned())
  @Errors(signUpDisabled())
  signInWithLdap(
    @CurrentSender() from: Sender,
    @Body() { login, password }: LdapSignInDto,
  ): Promise<SignedIn> {
    return this.ldap.signIn(from, { login, password });
  }

  @Post('refresh')
  @SkipThrottle()
  @Describe(`Exchange a refresh token for new tokens
    Needs the apikey only. Each token works once; the response contains its successor. For 10 seconds a used token returns the same successor again, in case two tabs refresh at once or a response is lost. Reuse after that ends the session.`)
  @Answer(200, 'The user and the session with new tokens', SignedInResponse)
  @Errors(invalidParameters('refresh_token should not be empty'), invalidRefreshToken(), userBanned())
  refresh(@CurrentSender() from: Sender, @Body() body: RefreshDto): Promise<SignedIn> {
    return this.sessions.refresh(from, body.refresh_token);
  }

  @Post('reset-password')
  @Captcha()
  @Describe(`Send a password reset mail
    Needs the apikey only. The response and its timing are the same for known and unknown addresses. The token works once, within one hour, and a new request invalidates older tokens. The number of mails to one mailbox is limited (429).`)
  @MessageAnswer(RESET_SENT, 'The same for known and unknown addresses', LIMIT_HEADERS)
  @Errors(invalidEmail())
  async resetPassword(@CurrentSender() from: Sender, @Body() { email }: EmailDto): Promise<MessageResponse> {
    await this.mails.request(from, 'reset', email);
    return { message: RESET_SENT };
  }

  @Post('update-password')
  @Describe(`Set a new password with a mailed token
    Needs the apikey, and the token from a reset mail or an invitation. The token works once. All sessions of the user end.`)
  @MessageAnswer(
    PASSWORD_UPDATED,
    'The password is set, and all sessions of the user have ended',
    LIMIT_HEADERS,
  )
  @Errors(tooShortPassword(), invalidMailedToken())
  async updatePassword(
    @CurrentSender() from: Sender,
    @Body() { token, password }: UpdatePasswordDto,
  ): Promise<MessageResponse> {
    await this.resets.updatePassword(from, { token, password });
    return { message: PASSWORD_UPDATED };
  }

  @Post('verify-email')
  @Describe(`Confirm an address with a mailed token
    Needs the apikey, and the token from a verification mail, which is sent at sign-up and when the address is changed by \`PATCH /user\`. It works once. The first proof of the address sets the \`password\`. Without one, an account that was used before has no password afterwards, and \`reset-password\` sets another. Sessions and factors from before that proof end.`)
  @MessageAnswer(VERIFY_EMAIL_MESSAGES, 'The address is confirmed', LIMIT_HEADERS)
  @VERIFY_EMAIL_ERRORS
  async verifyEmail(@CurrentSender() from: Sender, @Body() body: VerifyEmailDto): Promise<MessageResponse> {
    const hasPassword = await this.verification.confirm(from, body);
    return { message: VERIFY_EMAIL_MESSAGES[hasPassword ? 'confirmed' : 'without password'] };
  }

  @Post('resend-verification')
  @Captcha()
  @Describe(`Send the verification mail again
    Needs the apikey only. The response is the same for every address; a mail is sent only if the account's address is not verified yet. The number of mails to one mailbox is limited (429).`)
  @MessageAnswer(VERIFICATION_SENT, 'The same for known and unknown addresses', LIMIT_HEADERS)
  @Errors(invalidEmail())
  async resendVerification(
    @CurrentSender() from: Sender,
    @Body() { email }: EmailDto,
  ): Promise<MessageResponse> {
    await this.mails.request(from, 'verify', email);
    return { message: VERIFICATION_SENT };
  }
}
