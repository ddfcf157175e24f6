/** GoTrue's paths that mail or send codes and links, and sign in with them: they need the apikey only. */
import { Body, Post, Query } from '@nestjs/common';
import { Answer, Describe, Errors, together } from '../../../http/docs/operation.decorators';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { invalidEmail } from '../../../identity/identity.errors';
import type { Sender } from '../../../identity/request-origin';
import { invalidMailedToken, magicLinkDisabled, phoneDisabled, phoneTaken } from '../../auth.errors';
import { tooManyRequests } from '../auth-docs.decorator';
import { Captcha } from '../captcha.interceptor';
import { GoTrueSessionResponse, EmptyResponse } from './dto/gotrue-responses';
import {
  GoTrueEmailDto,
  GoTrueOtpDto,
  GoTrueResendDto,
  GoTrueVerifyDto,
  RedirectQuery,
} from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { invalidPhone, validationFailed } from './gotrue-errors';
import { hookFailed, hookRefused } from '../../hooks/hook.errors';
import { claimsFailed } from '../../sessions/custom-claims';
import { RequestedMails } from '../../mail/requested-mails.service';
import { MailedSignInService } from '../../codes/mailed-sign-in.service';
import { PhoneSignIn } from '../../phones/phone-sign-in.service';
import { GoTrueAnswers } from './gotrue-answers.service';
import { flowOf, phoneOf, kindsOf } from './gotrue-mail-types';

const OTP_DOCS = together(
  Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS),
  Errors(invalidEmail(), magicLinkDisabled(), phoneDisabled(), invalidPhone(), tooManyRequests()),
  Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null)),
);

@GoTrueApi('apikey')
@GoTrueController()
export class GoTrueCodesController {
  constructor(
    private readonly mails: RequestedMails,
    private readonly mailed: MailedSignInService,
    private readonly phones: PhoneSignIn,
    private readonly answers: GoTrueAnswers,
  ) {}

  @Post('recover')
  @Captcha()
  @Describe(`Mail a link and a code for a new password (GoTrue)
    Needs the apikey only. The answer and its timing are the same for known and unknown addresses.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail())
  async goTrueRecover(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueEmailDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    await this.mails.request(from, 'reset', body.email, { flow: flowOf(from.project, redirectTo, body) });
    return {};
  }

  @Post('otp')
  @Captcha()
  @Describe(`Send a link and a code that sign in (GoTrue)
    Needs the apikey only, and the setting \`magic_link_enabled\`, or for \`phone\` \`send_sms_hook\`. The answer and its timing are the same for every address, whether \`create_user\` is set or not.`)
  @OTP_DOCS
  async goTrueOtp(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueOtpDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    const account = { createUser: body.create_user ?? true, data: body.data ?? {} };
    if (body.phone !== undefined) {
      await this.phones.request(from, { phone: phoneOf(body.phone), ...account });
      return {};
    }
    if (body.email === undefined) throw validationFailed('One of email or phone must be set');
    const flow = flowOf(from.project, redirectTo, body);
    await this.mails.requestMagicLink(from, { email: body.email, ...account }, flow);
    return {};
  }

  @Post('magiclink')
  @Captcha()
  @Describe(`Mail a link and a code that sign in (GoTrue, former name)
    The same as \`otp\`.`)
  @OTP_DOCS
  goTrueMagicLink(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueOtpDto,
    @Query() query: RedirectQuery,
  ): Promise<EmptyResponse> {
    return this.goTrueOtp(from, body, query);
  }

  @Post('resend')
  @Captcha()
  @Describe(`Mail the link and the code of a sign-up again (GoTrue)
    Needs the apikey only. The answer is the same for every address.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail(), phoneDisabled(), invalidPhone(), tooManyRequests())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  async goTrueResend(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueResendDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    if (body.type === 'phone_change') throw validationFailed('Change the phone again for another code');
    if (body.phone !== undefined || body.type === 'sms') {
      await this.phones.resend(from, phoneOf(body.phone));
      return {};
    }
    if (body.email === undefined) throw validationFailed('Type provided requires an email address');
    await this.mails.request(from, 'verify', body.email, { flow: flowOf(from.project, redirectTo, body) });
    return {};
  }

  @Post('verify')
  @Describe(`Get a session with the code or the token of a mail, or the code of a message (GoTrue)
    Needs the apikey only. Either \`phone\` and \`token\`, or \`email\` and \`token\`, the code of the mail, or \`token_hash\`, the token of its link. Each works once, and a code is invalid after ten wrong guesses.`)
  @Answer(200, 'A session', GoTrueSessionResponse, LIMIT_HEADERS)
  @Errors(validationFailed('Verify requires either a token or a token hash'), invalidPhone())
  @Errors(invalidMailedToken(), phoneTaken(), hookRefused(403, 'Your licence has ended'), claimsFailed(null))
  async goTrueVerify(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueVerifyDto,
  ): Promise<GoTrueSessionResponse> {
    const { type, token, token_hash: tokenHash, email, phone } = body;
    if ((token === undefined) === (tokenHash === undefined))
      throw validationFailed('Verify requires either a token or a token hash');
    if (phone !== undefined) {
      const given = { phone: phoneOf(phone), code: token ?? '' };
      const signedIn =
        type === 'phone_change'
          ? await this.phones.change(from, given)
          : await this.phones.signIn(from, given);
      return this.answers.sessionOf(from.project, signedIn);
    }
    const kinds = kindsOf(type);
    if (tokenHash !== undefined) {
      if (email !== undefined) throw validationFailed('Only the token_hash and type should be provided');
      return this.answers.sessionOf(from.project, await this.mailed.signInWithToken(from, tokenHash, kinds));
    }
    if (email === undefined || token === undefined)
      throw validationFailed('Only an email address or phone number should be provided on verify');
    const guess = { email, code: token };
    return this.answers.sessionOf(from.project, await this.mailed.signInWithCode(from, guess, kinds));
  }
}
