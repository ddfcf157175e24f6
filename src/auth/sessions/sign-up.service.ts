/** Creates accounts (SPEC.md 4.2, "Sign up"). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ONE_FACTOR } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { NewAccount, toUserView, UserView } from '../accounts/account';
import { EmailAddress, getEmailAddress, isDomainAllowed, localPart } from '../../identity/email-address';
import { refusingTakenAddress } from '../accounts/account-record';
import { byAnonymous } from '../audit/audit-entry';
import { RequestOrigin } from '../../identity/request-origin';
import { domainNotAllowed, signUpDisabled } from '../auth.errors';
import { NewAccountMailer } from '../mail/new-account-mailer.service';
import { Passwords } from '../../identity/passwords/passwords.service';
import { SessionIssuer, SessionView } from './session-issuer.service';
import { SessionTokensRepository } from './session-tokens.repository';

interface SignUpInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string | null;
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
    private readonly issuer: SessionIssuer,
    private readonly passwords: Passwords,
    private readonly mailer: NewAccountMailer,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for an unacceptable or taken value, 403 if sign-up is turned off */
  async signUp(project: Project, input: SignUpInput, origin: RequestOrigin): Promise<SignedUp> {
    const email = acceptableEmail(project, input.email);
    const account: NewAccount = {
      id: randomUUID(),
      email,
      name: input.name?.trim() || localPart(email),
      // Hashed before the transaction, which must not wait for it.
      passwordHash: await this.passwords.hashNew(project, input.password, project.settings),
      data: {},
      emailVerifiedAt: null,
      bannedUntil: null,
      invitedAt: null,
      now: new Date(this.clock.now()),
    };
    return project.settings.email_verification_required
      ? this.createUnverified(project, account, origin)
      : this.createSignedIn(project, account, origin);
  }

  private async createSignedIn(
    project: Project,
    account: NewAccount,
    origin: RequestOrigin,
  ): Promise<SignedUp> {
    const sessionId = randomUUID();
    const session = {
      id: sessionId,
      userId: account.id,
      passwordHash: account.passwordHash,
      newPasswordHash: null,
      expiresAt: this.issuer.sessionEnd(project),
      origin,
    };
    const entry = byAnonymous('sign_up', account.id, { now: account.now, origin });
    const creation = this.sessions.beginWithAccount(project, account, session, entry);
    const created = await refusingTakenAddress(creation);
    return this.issuer.issue(project, { ...created, sessionId, number: 0, aal: ONE_FACTOR });
  }

  private async createUnverified(
    project: Project,
    account: NewAccount,
    origin: RequestOrigin,
  ): Promise<SignedUp> {
    const context = { now: account.now, origin };
    const audit = {
      created: byAnonymous('sign_up', account.id, context),
      mailed: byAnonymous('verification_requested', account.id, context),
    };
    const created = await this.mailer.create(project, account, 'verify', audit, origin.languages);
    return { user: toUserView(created), session: null };
  }
}

function acceptableEmail(project: Project, text: string): EmailAddress {
  if (!project.settings.signup_enabled) throw signUpDisabled();
  const email = getEmailAddress(text);
  if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
  return email;
}
