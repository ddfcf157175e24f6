/** Accounts, managed by administrators with the service-role key. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { UUID } from '../../common/text/uuid';
import { Clock } from '../../common/time/clock';
import { isUsableHash } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account, assertAppData, assertUserData, mergedJson, NewAccount } from '../accounts/account';
import { getEmailAddress, localPart } from '../../identity/email-address';
import { refusingTakenAddress } from '../accounts/account-record';
import { byServiceRole } from '../audit/audit-entry';
import { Sender } from '../../identity/request-origin';
import { unusablePasswordHash, userNotFound } from '../auth.errors';
import { MailFlow } from '../mail/mail-flow';
import { NewAccountMailer } from '../mail/new-account-mailer.service';
import { Passwords } from '../../identity/passwords/passwords.service';
import { AdminUsersRepository, UserChange } from './admin-users.repository';

export interface UserInput extends Omit<UserChange, 'email'> {
  readonly email?: string;
  readonly password?: string;
}

interface NewUserInput extends UserInput {
  /** Default: a random password. */
  readonly id?: string;
  readonly email: string;
}

@Injectable()
export class AdminUsersService {
  constructor(
    private readonly users: AdminUsersRepository,
    private readonly mailer: NewAccountMailer,
    private readonly passwords: Passwords,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 */
  async get(project: Project, id: string): Promise<Account> {
    const account = await this.users.find(project, validId(id));
    if (!account) throw userNotFound();
    return account;
  }

  /** @throws AppError 400 for an unacceptable or taken value */
  async create({ project, origin }: Sender, input: NewUserInput): Promise<Account> {
    const account = await this.newAccount(project, input);
    const entry = byServiceRole('user_created', account.id, { now: account.now, origin });
    return refusingTakenAddress(this.users.create(project, account, entry));
  }

  /**
   * Creates an account without a password and mails a token that sets one, or does neither.
   * @throws AppError 400 for an unacceptable or taken value, 429 if the quota of mails for today is used up
   */
  async invite(
    { project, origin }: Sender,
    { email, name, data }: Pick<NewUserInput, 'email' | 'name' | 'data'>,
    flow?: MailFlow,
  ): Promise<Account> {
    const account = await this.newAccount(project, { email, name, data });
    const context = { now: account.now, origin };
    const audit = {
      created: byServiceRole('user_created', account.id, context),
      mailed: byServiceRole('user_invited', account.id, context),
    };
    return this.mailer.create(project, { ...account, invitedAt: account.now }, 'invite', audit, { flow });
  }

  /** @throws AppError 400, 404 */
  async updateUser({ project, origin }: Sender, id: string, input: UserInput): Promise<Account> {
    const old = input.merges ? await this.get(project, id) : null;
    const change = await this.toChange(project, input, old);
    const fields = Object.entries(input).flatMap(([field, value]) =>
      value === undefined || field === 'merges' ? [] : [field],
    );
    const context = { now: this.clock.date(), origin, details: { fields } };
    const entry = byServiceRole('user_updated', validId(id), context);
    const account = await refusingTakenAddress(this.users.updateUser(project, id, change, entry));
    if (!account) throw userNotFound();
    return account;
  }

  /** @throws AppError 404 */
  async remove({ project, origin }: Sender, id: string): Promise<void> {
    const entry = byServiceRole('user_deleted', validId(id), { now: this.clock.date(), origin });
    if (!(await this.users.remove(project, id, entry))) throw userNotFound();
  }

  /** Ends all sessions of a user. @throws AppError 404 */
  async signOut({ project, origin }: Sender, id: string): Promise<void> {
    const entry = byServiceRole('user_signed_out', validId(id), { now: this.clock.date(), origin });
    if (!(await this.users.signOut(project, id, entry))) throw userNotFound();
  }

  private async newAccount(project: Project, input: NewUserInput): Promise<NewAccount> {
    const email = getEmailAddress(input.email);
    assertUserData(input.data);
    assertAppData(input.appData);
    const now = this.clock.date();
    return {
      id: input.id ?? randomUUID(),
      email,
      name: input.name?.trim() || localPart(email),
      passwordHash: await this.passwordHash(project, input),
      data: input.data ?? {},
      appData: input.appData,
      emailVerifiedAt: input.emailVerified ? now : null,
      bannedUntil: input.bannedUntil,
      now,
    };
  }

  /** @param old the account whose `data` and `appData` are merged with the given values; null: they are replaced */
  private async toChange(project: Project, input: UserInput, old: Account | null): Promise<UserChange> {
    assertUserData(old ? mergedJson(old.data, input.data) : input.data);
    assertAppData(old ? mergedJson(old.appData, input.appData) : input.appData);
    return {
      merges: input.merges,
      email: input.email === undefined ? undefined : getEmailAddress(input.email),
      name: input.name?.trim() || undefined,
      data: input.data,
      appData: input.appData,
      passwordHash: (await this.passwordHash(project, input)) ?? undefined,
      emailVerified: input.emailVerified,
      bannedUntil: input.bannedUntil,
    };
  }

  private async passwordHash(project: Project, input: UserInput): Promise<string | null> {
    if (input.passwordHash !== undefined) {
      if (!isUsableHash(input.passwordHash)) throw unusablePasswordHash();
      return input.passwordHash;
    }
    if (input.password === undefined) return null;
    return this.passwords.hashNew(project, input.password, project.settings);
  }
}

/** @throws AppError 404: an id that is not a UUID belongs to no user */
function validId(id: string): string {
  if (!UUID.test(id)) throw userNotFound();
  return id;
}
