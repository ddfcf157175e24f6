/** Creates accounts. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { AccountToInsert, assertUserData, NewAccount, toUserView, UserView } from '../accounts/account';
import { EmailAddress, getEmailAddress, isDomainAllowed, localPart } from '../../identity/email-address';
import { refusingTakenAddress } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { anonymousDisabled, domainNotAllowed, signUpDisabled } from '../auth.errors';
import { Hooks } from '../hooks/hooks.service';
import { MailFlow } from '../mail/mail-flow';
import { NewAccountMailer } from '../mail/new-account-mailer.service';
import { Passwords } from '../../identity/passwords/passwords.service';
import { SignInMethod } from './session';
import { SessionView, SignedIn } from './session-issuer.service';
import { SessionStarter } from './session-starter.service';
import { SessionTokensRepository } from './session-tokens.repository';

interface SignUpInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string | null;
  readonly data?: JsonObject;
}

export interface SignedUp {
  readonly user: UserView;
  /** Null if the address must be verified first. */
  readonly session: SessionView | null;
}

@Injectable()
export class SignUpService {
  constructor(
    private readonly sessions: SessionTokensRepository,
    private readonly starter: SessionStarter,
    private readonly passwords: Passwords,
    private readonly hooks: Hooks,
    private readonly mailer: NewAccountMailer,
    private readonly clock: Clock,
  ) {}

  /**
   * @param flow the flow of the mail that verifies the address
   * @throws AppError 400 for an unacceptable or taken value, 403 if sign-up is turned off
   */
  async signUp(from: Sender, input: SignUpInput, flow?: MailFlow): Promise<SignedUp> {
    const { project } = from;
    const email = acceptableEmail(project, input.email);
    assertUserData(input.data);
    const account: NewAccount = {
      id: randomUUID(),
      email,
      name: input.name?.trim() || localPart(email),
      // Hashed before the transaction, which must not wait for it.
      passwordHash: await this.passwords.hashNew(project, input.password, project.settings),
      data: input.data ?? {},
      now: this.clock.date(),
    };
    await this.hooks.beforeUserCreated(from, account);
    return project.settings.email_verification_required
      ? this.createUnverified(from, account, flow)
      : this.createWithSession(from, account, 'password');
  }

  /** Creates an anonymous user with a session. @throws AppError 403 if anonymous users or sign-up are turned off */
  async signUpAnonymously(from: Sender, { data = {} }: Pick<SignUpInput, 'data'>): Promise<SignedIn> {
    const { project } = from;
    if (!project.settings.anonymous_signin_enabled) throw anonymousDisabled();
    if (!project.settings.signup_enabled) throw signUpDisabled();
    assertUserData(data);
    const account: AccountToInsert = {
      id: randomUUID(),
      email: null,
      name: '',
      passwordHash: null,
      data,
      now: this.clock.date(),
    };
    await this.hooks.beforeUserCreated(from, account);
    return this.createWithSession(from, account, 'anonymous');
  }

  /** Creates an account for a phone that its user has proved. @throws AppError 403 if sign-up is turned off */
  async signUpWithPhone(
    from: Sender,
    given: { readonly phone: string; readonly passwordHash: string | null; readonly data: JsonObject },
  ): Promise<SignedIn> {
    if (!from.project.settings.signup_enabled) throw signUpDisabled();
    const account: AccountToInsert = {
      ...given,
      id: randomUUID(),
      email: null,
      name: '',
      now: this.clock.date(),
    };
    await this.hooks.beforeUserCreated(from, account);
    return this.createWithSession(from, account, 'otp');
  }

  private async createWithSession(
    from: Sender,
    account: AccountToInsert,
    method: SignInMethod,
  ): Promise<SignedIn> {
    const session = this.starter.newSession(from, account.id, method);
    const entry = byAnonymous('sign_up', account.id, { now: account.now, origin: from.origin });
    const begun = { ...session, passwordHash: account.passwordHash, groups: null, newPasswordHash: null };
    const creation = this.sessions.beginWithAccount(from.project, account, begun, entry);
    return this.starter.issueFirst(from.project, await refusingTakenAddress(creation), session);
  }

  private async createUnverified(
    { project, origin }: Sender,
    account: NewAccount,
    flow: MailFlow | undefined,
  ): Promise<SignedUp> {
    const context = { now: account.now, origin };
    const audit = {
      created: byAnonymous('sign_up', account.id, context),
      mailed: byAnonymous('verification_requested', account.id, context),
    };
    const created = await this.mailer.create(project, account, 'verify', audit, {
      languages: origin.languages,
      flow,
    });
    return { user: toUserView(created), session: null };
  }
}

function acceptableEmail(project: Project, text: string): EmailAddress {
  if (!project.settings.signup_enabled) throw signUpDisabled();
  const email = getEmailAddress(text);
  if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
  return email;
}
