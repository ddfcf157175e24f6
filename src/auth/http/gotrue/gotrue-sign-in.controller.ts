/** GoTrue's paths that sign in: they need the apikey only. */
import { applyDecorators, Body, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { invalidParameters, AppError } from '../../../common/errors/app-error';
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
  invalidRefreshToken,
  ldapDisabled,
  linkingDisabled,
  noAddress,
  providerNotEnabled,
  phoneDisabled,
  signUpDisabled,
  userBanned,
  wrongVerifier,
} from '../../auth.errors';
import { tooManyRequests } from '../auth-docs.decorator';
import { Captcha } from '../captcha.interceptor';
import { GoTrueSessionResponse, GoTrueSettingsResponse, GoTrueUserResponse } from './dto/gotrue-responses';
import { GoTrueSignUpDto, GoTrueTokenDto, GrantQuery, RedirectQuery } from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { userExists, validationFailed, web3Disabled } from './gotrue-errors';
import { hookFailed, hookRefused } from '../../hooks/hook.errors';
import { claimsFailed } from '../../sessions/custom-claims';
import { exampleOf } from '../../../http/docs/example.decorator';
import { SignUpService } from '../../sessions/sign-up.service';
import { SignInService } from '../../sessions/sign-in.service';
import { SessionService } from '../../sessions/session.service';
import { ProviderSignIn } from '../../providers/provider-sign-in.service';
import { SamlProviderRepository } from '../../directories/saml-provider.repository';
import { PhoneSignIn } from '../../phones/phone-sign-in.service';
import { GoTrueAnswers } from './gotrue-answers.service';
import { AuditRepository } from '../../audit/audit.repository';
import { Clock } from '../../../common/time/clock';
import { PRESETS } from '../../providers/provider';
import { isMagicLinkEnabled } from '../../mail/requested-mails.service';
import { phoneOf, flowOf } from './gotrue-mail-types';
import { tokensOf } from './gotrue-provider-requests';
import type { SignedIn } from '../../sessions/session-issuer.service';
import type { JsonObject } from '../../../common/text/json';
import { toPlainUser, toGoTrueUser } from './gotrue-views';
import { byAnonymous } from '../../audit/audit-entry';
import { getEmailAddress } from '../../../identity/email-address';
import type { Account } from '../../accounts/account';
import { randomUUID } from 'node:crypto';
import { LdapSignIn } from '../../directories/ldap-sign-in.service';

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
  constructor(
    private readonly signUps: SignUpService,
    private readonly signIns: SignInService,
    private readonly sessions: SessionService,
    private readonly providers: ProviderSignIn,
    private readonly saml: SamlProviderRepository,
    private readonly ldap: LdapSignIn,
    private readonly phones: PhoneSignIn,
    private readonly answers: GoTrueAnswers,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  @Get('settings')
  @SkipThrottle()
  @Describe(`Get the ways to sign in
    Needs the apikey only.`)
  @Answer(200, 'The ways to sign in', GoTrueSettingsResponse)
  async goTrueSettings(@CurrentProject() project: Project): Promise<GoTrueSettingsResponse> {
    const { settings } = project;
    const enabled = await this.providers.enabledNames(project);
    const known = PRESETS.filter((preset) => preset !== 'oidc');
    return {
      external: {
        ...Object.fromEntries([...known, ...enabled].map((name) => [name, enabled.includes(name)])),
        email: true,
        phone: settings.send_sms_hook !== null,
        anonymous_users: settings.anonymous_signin_enabled,
        magic_link: isMagicLinkEnabled(project),
      },
      disable_signup: !settings.signup_enabled,
      mailer_autoconfirm: !settings.email_verification_required,
      phone_autoconfirm: false,
      sms_provider: '',
      saml_enabled: await this.saml.isUsed(project),
    };
  }

  @Post('signup')
  @Captcha()
  @Describe(`Sign up (GoTrue)
    Needs the apikey only. Without email and phone, creates an anonymous user if the project allows it. If the project requires verified addresses, the answer is the same for an address that has an account.`)
  @SignUpAnswer()
  @Errors(invalidEmail(), tooShortPassword(), userExists(), domainNotAllowed(), signUpDisabled())
  @Errors(anonymousDisabled(), phoneDisabled(), invalidParameters('email must be a string'))
  @Errors(hookRefused(403, 'Only addresses of example.com'), hookFailed('before_user_created_hook', null))
  async goTrueSignUp(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueSignUpDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<GoTrueSessionResponse | GoTrueUserResponse> {
    const { email, phone, password, data } = body;
    const given = data ?? undefined;
    if (phone !== undefined && email === undefined) {
      if (!password) throw validationFailed('Signup requires a valid password');
      return this.signUpWithPhone(from, { phone: phoneOf(phone), password, data: given });
    }
    if (email === undefined) {
      const signedIn = await this.signUps.signUpAnonymously(from, { data: given });
      return this.answers.sessionOf(from.project, signedIn);
    }
    if (!password) throw validationFailed('Signup requires a valid password');
    const input = { email, password, name: nameIn(given), data: given };
    const flow = flowOf(from.project, redirectTo, body);
    try {
      const { user, session } = await this.signUps.signUp(from, input, flow);
      return session
        ? await this.answers.sessionOf(from.project, { user, session })
        : await this.answers.userOf(from.project, user.id);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'email_taken') throw error;
      return this.answerTaken(from, input);
    }
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
  async goTrueToken(
    @CurrentSender() from: Sender,
    @Query() { grant_type: grant }: GrantQuery,
    @Body() body: GoTrueTokenDto,
  ): Promise<GoTrueSessionResponse> {
    switch (grant) {
      case 'password':
        if (body.provider !== undefined)
          return this.answers.sessionOf(from.project, await this.signInAtDirectory(from, body));
        return this.answers.sessionOf(
          from.project,
          await this.signIns.signIn(from, {
            email: body.email,
            phone: body.phone === undefined ? undefined : phoneOf(body.phone),
            password: body.password ?? '',
          }),
        );
      case 'refresh_token':
        if (!body.refresh_token) throw validationFailed('refresh_token required');
        return this.answers.sessionOf(from.project, await this.sessions.refresh(from, body.refresh_token));
      case 'pkce': {
        const { auth_code: code, code_verifier: verifier } = body;
        if (!code || !verifier)
          throw validationFailed('invalid request: both auth code and code verifier should be non-empty');
        const { session, tokens } = await this.providers.exchange(from, { code, verifier });
        return this.answers.sessionOf(from.project, session, tokensOf(tokens));
      }
      case 'id_token': {
        const { provider, id_token: idToken, access_token: accessToken, nonce } = body;
        if (!provider || !idToken) throw validationFailed('id_token and provider required');
        if (body.link_identity === true) throw validationFailed('link_identity is not supported');
        const given = { idToken, accessToken, nonce };
        const signedIn = await this.providers.signInWithToken(from, provider, given);
        return this.answers.sessionOf(from.project, signedIn);
      }
      case 'web3':
        throw web3Disabled();
    }
  }

  private signInAtDirectory(from: Sender, { provider, email, password }: GoTrueTokenDto): Promise<SignedIn> {
    if (provider !== 'ldap') throw validationFailed('The only provider with passwords is ldap');
    if (!email || !password) throw validationFailed('email and password required');
    return this.ldap.signIn(from, { login: email, password });
  }

  /** The answer is the same for a phone that has an account. */
  private async signUpWithPhone(
    from: Sender,
    { phone, password, data = {} }: { phone: string; password: string; data: JsonObject | undefined },
  ): Promise<GoTrueUserResponse> {
    if (!from.project.settings.signup_enabled) throw signUpDisabled();
    await this.phones.request(from, { phone, createUser: true, password, data });
    const account = { ...notYetAnAccount(this.clock.date()), phone, data };
    return toPlainUser(from.project, account);
  }

  /**
   * Answers a sign-up with an address that has an account. Where addresses must be verified, the answer is the same as for a new
   * account, and writing the audit entry takes as long as inserting the account.
   */
  private async answerTaken(
    { project, origin }: Sender,
    { email, name, data = {} }: { email: string; name?: string; data?: JsonObject },
  ): Promise<GoTrueUserResponse> {
    if (!project.settings.email_verification_required) throw userExists();
    const now = this.clock.date();
    const entry = byAnonymous('sign_up', null, { now, origin, details: { taken: true } });
    await this.audit.write(project, entry);
    const address = { email: getEmailAddress(email).address, name: name ?? '' };
    const account: Account = { ...notYetAnAccount(now), ...address, data };
    const pending = { verify: { email: account.email, sentAt: now } };
    return toGoTrueUser(project, { account, factors: [], identities: [], pending });
  }
}

const notYetAnAccount = (now: Date): Account => ({
  id: randomUUID(),
  email: '',
  phone: null,
  phoneVerifiedAt: null,
  name: '',
  data: {},
  appData: {},
  isAnonymous: false,
  emailVerifiedAt: null,
  bannedUntil: null,
  invitedAt: null,
  lastSignInAt: null,
  createdAt: now,
  updatedAt: now,
});

/** The display name that applications put into `data`. */
function nameIn(data: JsonObject | undefined): string | undefined {
  const name = [data?.full_name, data?.name].find((one) => typeof one === 'string');
  return typeof name === 'string' && name.length <= 200 ? name : undefined;
}
