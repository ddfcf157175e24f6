/**
 * Phones with which users sign in. An account gets a phone once a code has proved it, so nobody can block another person's phone:
 * until then, the data of a sign-up is stored with its code.
 */
import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import type { Sender } from '../../identity/request-origin';
import { assertUserData, isBanned } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import type { SessionOwner } from '../accounts/account-statements';
import type { Credentials } from '../accounts/account-record';
import { byUser } from '../audit/audit-entry';
import { invalidMailedToken, phoneTaken, userBanned } from '../auth.errors';
import { Passwords } from '../../identity/passwords/passwords.service';
import type { SignedIn } from '../sessions/session-issuer.service';
import { SessionStarter } from '../sessions/session-starter.service';
import { SignUpService } from '../sessions/sign-up.service';
import { assertSendsMessages, PhoneCodes } from './phone-codes.service';

interface PhoneRequest {
  readonly phone: string;
  readonly createUser: boolean;
  readonly password?: string;
  readonly data: JsonObject;
}

interface GivenCode {
  readonly phone: string;
  readonly code: string;
}

const signInId = (phone: string): string => `sign-in:${phone}`;
const changeId = (phone: string): string => `change:${phone}`;

@Injectable()
export class PhoneSignIn {
  private readonly logger = new Logger(PhoneSignIn.name);

  constructor(
    private readonly codes: PhoneCodes,
    private readonly accounts: AccountRepository,
    private readonly passwords: Passwords,
    private readonly signUps: SignUpService,
    private readonly starter: SessionStarter,
    private readonly clock: Clock,
  ) {}

  /** The answer does not reveal whether the phone has an account. @throws AppError 400, 403, 429, and as Hooks.runHook() */
  async request(
    { project, origin }: Sender,
    { phone, createUser, password, data }: PhoneRequest,
  ): Promise<void> {
    assertSendsMessages(project);
    assertUserData(data);
    const passwordHash =
      password === undefined ? null : await this.passwords.hashNew(project, password, project.settings);
    const account = { data, password_hash: passwordHash, ip: origin.ip, agent: origin.userAgent };
    const code = { id: signInId(phone), phone, userId: null };
    if (createUser && project.settings.signup_enabled)
      return this.codes.send({ project, origin }, { ...code, account });
    await this.codes.count({ project, origin }, phone);
    const isKnown = await this.accounts.findCredentialsByPhone(project, phone);
    const sending = isKnown
      ? this.codes.sendCounted(project, { ...code, account: null })
      : this.codes.notSent(project);
    // Does not wait, since the time would reveal whether there is an account.
    void sending.catch((error: unknown) =>
      this.logger.warn(`send_sms_hook of ${project.slug}: ${messageOf(error)}`),
    );
  }

  /** Sends another code for a pending sign-in or sign-up. @throws AppError as request() */
  async resend(from: Sender, phone: string): Promise<void> {
    if (!from.project.settings.signup_enabled)
      return this.request(from, { phone, createUser: false, data: {} });
    const code = { id: signInId(phone), phone, userId: null, account: null };
    await this.codes.send(from, code, { keepsAccount: true });
  }

  /** @throws AppError 401 for an invalid code, 403, 429 */
  async signIn(from: Sender, { phone, code }: GivenCode): Promise<SignedIn> {
    const spent = await this.codes.check(from, signInId(phone), code);
    if (!spent) throw invalidMailedToken();
    const credentials = await this.accounts.findCredentialsByPhone(from.project, phone);
    if (credentials) return this.start(from, credentials);
    if (!spent.account) throw invalidMailedToken();
    const { data, password_hash: hash, ip, agent } = spent.account;
    // Somebody else may have signed up with the phone, also after its owner did.
    const isOwn = typeof hash === 'string' && ip === from.origin.ip && agent === from.origin.userAgent;
    const given = { data: data as JsonObject, passwordHash: isOwn ? hash : null };
    return this.signUps.signUpWithPhone(from, { phone, ...given });
  }

  /** Sends a code to a new phone of the signed-in user. @throws AppError 400, 403, 429, and as Hooks.runHook() */
  async requestChange(from: Sender, owner: SessionOwner, phone: string): Promise<void> {
    assertSendsMessages(from.project);
    await this.accounts.assertStrong(from.project, owner);
    await this.codes.send(from, { id: changeId(phone), phone, userId: owner.userId, account: null });
  }

  /** Sets the new phone, and signs its user in. @throws AppError 400 if it is taken, 401, 429 */
  async change(from: Sender, { phone, code }: GivenCode): Promise<SignedIn> {
    const spent = await this.codes.check(from, changeId(phone), code);
    if (!spent?.userId) throw invalidMailedToken();
    const context = { now: this.clock.date(), origin: from.origin, details: { phone: true } };
    const entry = byUser('profile_updated', spent.userId, context);
    if (!(await this.accounts.setPhone(from.project, spent.userId, phone, entry))) throw phoneTaken();
    const credentials = await this.accounts.findCredentialsById(from.project, spent.userId);
    if (!credentials) throw invalidMailedToken();
    return this.start(from, credentials);
  }

  private async start(from: Sender, credentials: Credentials): Promise<SignedIn> {
    if (isBanned(credentials.account, this.clock.now())) throw userBanned();
    const started = await this.starter.start(from, credentials, 'otp');
    if (!started) throw invalidMailedToken();
    return started;
  }
}
