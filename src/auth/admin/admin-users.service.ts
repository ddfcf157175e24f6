/** Accounts as an administrator with the service-role key manages them (DECISIONS.md 4). */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { JsonObject } from '../../common/text/json';
import { isBcryptHash, PasswordHasher } from '../../infra/crypto/password-hasher';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { toAccount } from '../accounts/account-record';
import { NewAccount } from '../accounts/account.repository';
import { AdminUsersRepository, UserPage } from './admin-users.repository';
import { AuditAction, AuditEntry } from '../audit/audit.repository';
import {
  emailTaken,
  invalidEmail,
  unacceptablePassword,
  unusablePasswordHash,
  userNotFound,
} from '../auth.errors';
import { EmailAddress, localPart, parseEmailAddress } from '../accounts/email-address';
import { InvitationService } from './invitation.service';
import { passwordFault } from '../passwords/password-policy';
import { RequestOrigin } from '../audit/request-origin';
import { isTakenAddress } from '../accounts/taken-address';
import { assertUserData } from '../accounts/user-data';
import { UUID } from '../../common/text/uuid';

export interface UserInput {
  readonly email?: string;
  readonly name?: string;
  readonly data?: JsonObject;
  readonly password?: string;
  /** bcrypt, as other systems export it. */
  readonly passwordHash?: string;
  readonly emailVerified?: boolean;
  readonly bannedUntil?: Date | null;
}

@Injectable()
export class AdminUsersService {
  constructor(
    private readonly users: AdminUsersRepository,
    private readonly invitations: InvitationService,
    private readonly passwords: PasswordHasher,
    private readonly clock: Clock,
  ) {}

  list(project: Project, page: UserPage): Promise<{ total: number; accounts: Account[] }> {
    return this.users.list(project, page);
  }

  /** @throws AppError 404 */
  async get(project: Project, id: string): Promise<Account> {
    const account = await this.users.find(project, userId(id));
    if (!account) throw userNotFound();
    return account;
  }

  /** @throws AppError 400 for what is not acceptable or taken */
  async create(
    project: Project,
    input: UserInput & { email: string },
    origin: RequestOrigin,
  ): Promise<Account> {
    const account = await this.newAccount(project, input);
    const created = await refusingTakenAddress(
      this.users.create(project, account, this.entry('user_created', origin, account.id)),
    );
    if (!input.bannedUntil) return created;
    return this.update(project, created.id, { bannedUntil: input.bannedUntil }, origin);
  }

  /** Creates an account without a password and mails a token with which its owner sets one; both or neither. */
  async invite(
    project: Project,
    input: UserInput & { email: string },
    origin: RequestOrigin,
  ): Promise<Account> {
    const account = {
      ...(await this.newAccount(project, { email: input.email, name: input.name, data: input.data })),
      invitedAt: this.now(),
    };
    const row = await refusingTakenAddress(
      this.invitations.invite(project, account, this.entry('user_invited', origin, account.id)),
    );
    return toAccount(row);
  }

  /** @throws AppError 400, 404 */
  async update(project: Project, id: string, input: UserInput, origin: RequestOrigin): Promise<Account> {
    assertUserData(input.data);
    const change = {
      email: input.email === undefined ? undefined : parsed(input.email),
      name: input.name?.trim() || undefined,
      data: input.data,
      passwordHash: (await this.passwordHash(project, input)) ?? undefined,
      emailVerified: input.emailVerified,
      bannedUntil: input.bannedUntil,
    };
    const fields = Object.entries(input).flatMap(([field, value]) => (value === undefined ? [] : [field]));
    const entry = { ...this.entry('user_updated', origin, id), details: { fields } };
    const account = await refusingTakenAddress(
      this.users.update(project, userId(id), change, this.now(), entry),
    );
    if (!account) throw userNotFound();
    return account;
  }

  /** @throws AppError 404 */
  async remove(project: Project, id: string, origin: RequestOrigin): Promise<void> {
    if (!(await this.users.remove(project, userId(id), this.entry('user_deleted', origin, id)))) {
      throw userNotFound();
    }
  }

  /** Ends all sessions of a user. @throws AppError 404 */
  async signOut(project: Project, id: string, origin: RequestOrigin): Promise<void> {
    const entry = this.entry('user_signed_out', origin, id);
    if (!(await this.users.signOut(project, userId(id), this.now(), entry))) throw userNotFound();
  }

  private async newAccount(project: Project, input: UserInput & { email: string }): Promise<NewAccount> {
    const email = parsed(input.email);
    assertUserData(input.data);
    const now = this.now();
    return {
      id: randomUUID(),
      email,
      name: input.name?.trim() || localPart(email),
      passwordHash: await this.passwordHash(project, input),
      data: input.data ?? {},
      emailVerifiedAt: input.emailVerified ? now : null,
      invitedAt: null,
      now,
    };
  }

  private async passwordHash(project: Project, input: UserInput): Promise<string | null> {
    if (input.passwordHash !== undefined) {
      if (!isBcryptHash(input.passwordHash)) throw unusablePasswordHash();
      return input.passwordHash;
    }
    if (input.password === undefined) return null;
    const fault = passwordFault(input.password, project.settings);
    if (fault) throw unacceptablePassword(fault);
    return this.passwords.hash(input.password);
  }

  private entry(action: AuditAction, origin: RequestOrigin, id: string): AuditEntry {
    const about = UUID.test(id) ? id : null;
    return { action, now: this.now(), origin, actorRole: 'service_role', actorId: null, userId: about };
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}

function parsed(text: string): EmailAddress {
  const email = parseEmailAddress(text);
  if (!email) throw invalidEmail();
  return email;
}

function userId(id: string): string {
  if (!UUID.test(id)) throw userNotFound();
  return id;
}

async function refusingTakenAddress<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isTakenAddress(error) ? emailTaken(error) : error;
  }
}
