/** GoTrue's paths for users who are not signed in: they need the apikey only. */
import { applyDecorators, Body, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { invalidParameters } from '../../../common/errors/app-error';
import { Answer, Describe, Errors, together } from '../../../http/docs/operation.decorators';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import {
  directoryFailed,
  invalidEmail,
  oidcFailed,
  oidcUnreachable,
  wrongCredentials,
} from '../../../identity/identity.errors';
import { tooShortPassword } from '../../../identity/passwords/password-policy';
import type { Sender } from '../../../identity/request-origin';
import { Project } from '../../../projects/project';
import {
  addressNotProved,
  anonymousDisabled,
  claimsTooLarge,
  domainNotAllowed,
  emailNotVerified,
  identityTaken,
  invalidExchangeCode,
  invalidMailedToken,
  invalidRefreshToken,
  ldapDisabled,
  linkingDisabled,
  magicLinkDisabled,
  noAddress,
  providerNotEnabled,
  phoneDisabled,
  phoneTaken,
  signUpDisabled,
  userBanned,
  wrongVerifier,
} from '../../auth.errors';
import { tooManyRequests } from '../auth-docs.decorator';
import { Captcha } from '../captcha.interceptor';
import {
  GoTrueSessionResponse,
  GoTrueSettingsResponse,
  GoTrueUserResponse,
  EmptyResponse,
} from './dto/gotrue-responses';
import {
  GoTrueEmailDto,
  GoTrueOtpDto,
  GoTrueResendDto,
  GoTrueSignUpDto,
  GoTrueTokenDto,
  GoTrueVerifyDto,
  GrantQuery,
  RedirectQuery,
} from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { invalidPhone, userExists, validationFailed, web3Disabled } from './gotrue-errors';
import { hookFailed, hookRefused } from '../../hooks/hook.errors';
import { claimsFailed } from '../../sessions/custom-claims';
import { GoTrueSignInService } from './gotrue-sign-in.service';
import { exampleOf } from '../../../http/docs/example.decorator';

/** `signup` answers with a session, or with the user alone if the address must be verified first. */
const SignUpAnswer = (): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiExtraModels(GoTrueSessionResponse, GoTrueUserResponse),
    ApiResponse({
      status: 200,
      description: 'A session; the user alone if the address must be verified first',
      headers: LIMIT_HEADERS,
      content: {
        'application/json': {
          schema: {
            oneOf: [
              { $ref: getSchemaPath(GoTrueSessionResponse) },
              { $ref: getSchemaPath(GoTrueUserResponse) },
            ],
          },
          example: exampleOf(GoTrueUserResponse),
        },
      },
    }),
  );

const TOKEN_ERRORS = together(
  Errors(wrongCredentials(), emailNotVerified(), userBanned(), invalidRefreshToken(), wrongVerifier()),
  Errors(invalidExchangeCode(), web3Disabled(), invalidParameters('grant_type must be one of')),
  Errors(providerNotEnabled(), oidcFailed(), oidcUnreachable(), addressNotProved(), noAddress()),
  Errors(signUpDisabled(), domainNotAllowed(), identityTaken(), linkingDisabled()),
  Errors(tooManyRequests(), tooShortPassword(), phoneDisabled(), ldapDisabled(), directoryFailed()),
  Errors(claimsTooLarge(1_024)),
  Errors(hookRefused(403, 'Your licence has ended'), claimsFailed(null)),
);

@GoTrueApi('apikey')
@GoTrueController()
export class GoTrueSignInController {
  constructor(private readonly signIns: GoTrueSignInService) {}

  @Get('settings')
  @SkipThrottle()
  @Describe(`Get the ways to sign in
    Needs the apikey only.`)
  @Answer(200, 'The ways to sign in', GoTrueSettingsResponse)
  goTrueSettings(@CurrentProject() project: Project): Promise<GoTrueSettingsResponse> {
    return this.signIns.settings(project);
  }

  @Post('signup')
  @Captcha()
  @Describe(`Sign up (GoTrue)
    Needs the apikey only. Without email and phone, creates an anonymous user if the project allows it. If the project requires verified addresses, the answer is the same for an address that has an account.`)
  @SignUpAnswer()
  @Errors(invalidEmail(), tooShortPassword(), userExists(), domainNotAllowed(), signUpDisabled())
  @Errors(anonymousDisabled(), phoneDisabled(), invalidParameters('email must be a string'))
  @Errors(hookRefused(403, 'Only addresses of example.com'), hookFailed('before_user_created_hook', null))
  goTrueSignUp(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueSignUpDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<GoTrueSessionResponse | GoTrueUserResponse> {
    return this.signIns.signUp(from, body, redirectTo);
  }

  // GuessThrottle slows down guesses, as for `/v1/auth`.
  @Post('token')
  // Proofs of an earlier sign-in. They cannot be guessed.
  @Captcha(['refresh_token', 'pkce', 'id_token'])
  @SkipThrottle()
  @Describe(`Get a session (GoTrue)
    Needs the apikey only. \`password\`: with email and password, those of the directory with the provider \`ldap\`. \`refresh_token\`: new tokens of a session. \`pkce\`: with the code from the link of a mail or from the redirect of a provider, once, and the verifier of the challenge. \`id_token\`: with an ID token of a provider of the project.`)
  @Answer(200, 'A session', GoTrueSessionResponse)
  @TOKEN_ERRORS
  goTrueToken(
    @CurrentSender() from: Sender,
    @Query() { grant_type: grant }: GrantQuery,
    @Body() body: GoTrueTokenDto,
  ): Promise<GoTrueSessionResponse> {
    return this.signIns.token(from, grant, body);
  }

  @Post('recover')
  @Captcha()
  @Describe(`Mail a link and a code for a new password (GoTrue)
    Needs the apikey only. The answer and its timing are the same for known and unknown addresses.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail())
  goTrueRecover(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueEmailDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    return this.signIns.recover(from, body, redirectTo);
  }

  @Post('otp')
  @Captcha()
  @Describe(`Send a link and a code that sign in (GoTrue)
    Needs the apikey only, and the setting \`magic_link_enabled\`, or for \`phone\` \`send_sms_hook\`. The answer and its timing are the same for every address, whether \`create_user\` is set or not.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail(), magicLinkDisabled(), phoneDisabled(), invalidPhone(), tooManyRequests())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  goTrueOtp(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueOtpDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    return this.signIns.otp(from, body, redirectTo);
  }

  @Post('magiclink')
  @Captcha()
  @Describe(`Mail a link and a code that sign in (GoTrue, former name)
    The same as \`otp\`.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail(), magicLinkDisabled(), phoneDisabled(), invalidPhone(), tooManyRequests())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  goTrueMagicLink(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueOtpDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    return this.signIns.otp(from, body, redirectTo);
  }

  @Post('resend')
  @Captcha()
  @Describe(`Mail the link and the code of a sign-up again (GoTrue)
    Needs the apikey only. The answer is the same for every address.`)
  @Answer(200, 'The same for known and unknown addresses', EmptyResponse, LIMIT_HEADERS)
  @Errors(invalidEmail(), phoneDisabled(), invalidPhone(), tooManyRequests())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  goTrueResend(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueResendDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<EmptyResponse> {
    return this.signIns.resend(from, body, redirectTo);
  }

  @Post('verify')
  @Describe(`Get a session with the code or the token of a mail, or the code of a message (GoTrue)
    Needs the apikey only. Either \`phone\` and \`token\`, or \`email\` and \`token\`, the code of the mail, or \`token_hash\`, the token of its link. Each works once, and a code is invalid after ten wrong guesses.`)
  @Answer(200, 'A session', GoTrueSessionResponse, LIMIT_HEADERS)
  @Errors(validationFailed('Verify requires either a token or a token hash'), invalidPhone())
  @Errors(invalidMailedToken(), phoneTaken(), hookRefused(403, 'Your licence has ended'), claimsFailed(null))
  goTrueVerify(@CurrentSender() from: Sender, @Body() body: GoTrueVerifyDto): Promise<GoTrueSessionResponse> {
    return this.signIns.verify(from, body);
  }
}
