/** Translates GoTrue's requests of users who are not signed in into calls of the services, and their results into answers. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AppError } from '../../../common/errors/app-error';
import { JsonObject } from '../../../common/text/json';
import { Clock } from '../../../common/time/clock';
import { getEmailAddress } from '../../../identity/email-address';
import { Sender } from '../../../identity/request-origin';
import { Project } from '../../../projects/project';
import { Account } from '../../accounts/account';
import { byAnonymous } from '../../audit/audit-entry';
import { AuditRepository } from '../../audit/audit.repository';
import { signUpDisabled } from '../../auth.errors';
import { isMagicLinkEnabled, RequestedMails } from '../../mail/requested-mails.service';
import { MailedSignInService } from '../../codes/mailed-sign-in.service';
import { challengeOf } from '../../codes/pkce';
import { redirectFor } from '../../codes/redirects';
import { MailFlow } from '../../mail/mail-flow';
import { LdapSignIn } from '../../directories/ldap-sign-in.service';
import { SamlProviderRepository } from '../../directories/saml-provider.repository';
import { PhoneSignIn } from '../../phones/phone-sign-in.service';
import { PRESETS } from '../../providers/provider';
import { ProviderSignIn } from '../../providers/provider-sign-in.service';
import { SignedIn } from '../../sessions/session-issuer.service';
import { SessionService } from '../../sessions/session.service';
import { SignInService } from '../../sessions/sign-in.service';
import { SignUpService } from '../../sessions/sign-up.service';
import type {
  GoTrueSessionResponse,
  GoTrueSettingsResponse,
  GoTrueUserResponse,
  EmptyResponse,
} from './dto/gotrue-responses';
import type {
  GoTrueEmailDto,
  GoTrueOtpDto,
  GoTrueResendDto,
  GoTrueSignUpDto,
  GoTrueTokenDto,
  GoTrueVerifyDto,
  GrantQuery,
} from './dto/gotrue-inputs.dto';
import { userExists, validationFailed, web3Disabled } from './gotrue-errors';
import { kindsOf, phoneOf } from './gotrue-mail-types';
import { tokensOf } from './gotrue-provider-requests';
import { GoTrueAnswers } from './gotrue-answers.service';
import { toGoTrueUser, toPlainUser } from './gotrue-views';

type Pkce = Pick<GoTrueEmailDto, 'code_challenge' | 'code_challenge_method'>;

@Injectable()
export class GoTrueSignInService {
  constructor(
    private readonly signUps: SignUpService,
    private readonly signIns: SignInService,
    private readonly sessions: SessionService,
    private readonly mails: RequestedMails,
    private readonly mailed: MailedSignInService,
    private readonly providers: ProviderSignIn,
    private readonly saml: SamlProviderRepository,
    private readonly ldap: LdapSignIn,
    private readonly phones: PhoneSignIn,
    private readonly answers: GoTrueAnswers,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  async settings(project: Project): Promise<GoTrueSettingsResponse> {
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

  async signUp(
    from: Sender,
    body: GoTrueSignUpDto,
    redirectTo: string | undefined,
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

  async token(
    from: Sender,
    grant: GrantQuery['grant_type'],
    body: GoTrueTokenDto,
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

  async recover(from: Sender, body: GoTrueEmailDto, redirectTo: string | undefined): Promise<EmptyResponse> {
    await this.mails.request(from, 'reset', body.email, { flow: flowOf(from.project, redirectTo, body) });
    return {};
  }

  async otp(from: Sender, body: GoTrueOtpDto, redirectTo: string | undefined): Promise<EmptyResponse> {
    if (body.phone !== undefined) {
      const wanted = {
        phone: phoneOf(body.phone),
        createUser: body.create_user ?? true,
        data: body.data ?? {},
      };
      await this.phones.request(from, wanted);
      return {};
    }
    if (body.email === undefined) throw validationFailed('One of email or phone must be set');
    const flow = flowOf(from.project, redirectTo, body);
    const request = { email: body.email, createUser: body.create_user ?? true, data: body.data ?? {} };
    await this.mails.requestMagicLink(from, request, flow);
    return {};
  }

  async resend(from: Sender, body: GoTrueResendDto, redirectTo: string | undefined): Promise<EmptyResponse> {
    if (body.type === 'phone_change') throw validationFailed('Change the phone again for another code');
    if (body.phone !== undefined || body.type === 'sms') {
      await this.phones.resend(from, phoneOf(body.phone));
      return {};
    }
    if (body.email === undefined) throw validationFailed('Type provided requires an email address');
    await this.mails.request(from, 'verify', body.email, { flow: flowOf(from.project, redirectTo, body) });
    return {};
  }

  async verify(from: Sender, body: GoTrueVerifyDto): Promise<GoTrueSessionResponse> {
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

export function flowOf(project: Project, redirectTo: string | undefined, pkce: Pkce): MailFlow {
  const challenge = challengeOf(pkce.code_challenge, pkce.code_challenge_method);
  return { redirectTo: redirectFor(project.settings, redirectTo), challenge };
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
