/** Creates accounts (SPEC.md 4.2, "Sign up"). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { ONE_FACTOR } from '../../access/caller';
import { Clock } from '../../common/time/clock';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { toUserView, UserView } from '../accounts/account';
import { toAccount } from '../accounts/account-record';
import { AccountRepository, NewAccount } from '../accounts/account.repository';
import { AuditEntry } from '../audit/audit.repository';
import {
  domainNotAllowed,
  emailTaken,
  invalidEmail,
  signUpDisabled,
  unacceptablePassword,
} from '../auth.errors';
import { EmailAddress, isDomainAllowed, localPart, parseEmailAddress } from '../accounts/email-address';
import { EmailVerificationService } from '../mail/email-verification.service';
import { passwordFault } from '../passwords/password-policy';
import { RequestOrigin } from '../audit/request-origin';
import { SessionIssuer, SessionView } from './session-issuer.service';
import { SignUpRepository } from './sign-up.repository';
import { isTakenAddress } from '../accounts/taken-address';

export interface SignUpInput {
  readonly email: string;
  readonly password: string;
  readonly name?: string | null;
}

export interface SignedUp {
  readonly user: UserView;
  /** Null when the address must be verified first. */
  readonly session: SessionView | null;
}

@Injectable()
export class SignUpService {
  constructor(
    private readonly signUps: SignUpRepository,
    private readonly accounts: AccountRepository,
    private readonly issuer: SessionIssuer,
    private readonly passwords: PasswordHasher,
    private readonly verification: EmailVerificationService,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for what is not acceptable or taken, 403 when sign-up is turned off */
  async signUp(project: Project, input: SignUpInput, origin: RequestOrigin): Promise<SignedUp> {
    const email = acceptableEmail(project, input.email);
    const fault = passwordFault(input.password, project.settings);
    if (fault) throw unacceptablePassword(fault);
    // Hashed before the transaction begins, which must not wait for it.
    const passwordHash = await this.passwords.hash(input.password);
    const account: NewAccount = {
      id: randomUUID(),
      email,
      name: input.name?.trim() || localPart(email),
      passwordHash,
      data: {},
      emailVerifiedAt: null,
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
      now: account.now,
      expiresAt: this.issuer.sessionEnd(project),
      origin,
    };
    const created = await refusingTakenAddress(
      this.signUps.createSignedIn(project, account, session, signUpEntry(account, origin)),
    );
    return this.issuer.issue(project, { ...created, sessionId, number: 0, aal: ONE_FACTOR });
  }

  private async createUnverified(
    project: Project,
    account: NewAccount,
    origin: RequestOrigin,
  ): Promise<SignedUp> {
    const insertion = this.accounts.insertion(account, signUpEntry(account, origin));
    const row = await refusingTakenAddress(this.verification.sendWith(project, account, insertion, origin));
    return { user: toUserView(toAccount(row)), session: null };
  }
}

function acceptableEmail(project: Project, text: string): EmailAddress {
  if (!project.settings.signup_enabled) throw signUpDisabled();
  const email = parseEmailAddress(text);
  if (!email) throw invalidEmail();
  if (!isDomainAllowed(email, project.settings.allowed_email_domains)) throw domainNotAllowed();
  return email;
}

async function refusingTakenAddress<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isTakenAddress(error) ? emailTaken(error) : error;
  }
}

function signUpEntry(account: NewAccount, origin: RequestOrigin): AuditEntry {
  return {
    action: 'sign_up',
    now: account.now,
    origin,
    actorRole: 'anon',
    actorId: account.id,
    userId: account.id,
  };
}
