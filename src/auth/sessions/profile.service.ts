/** A signed-in user reads and changes their own account. */
import { Injectable } from '@nestjs/common';
import { invalidCredentials } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { JsonObject } from '../../common/text/json';
import { Project } from '../../projects/project';
import { Account, assertUserData, mergedJson } from '../accounts/account';
import { AccountRepository } from '../accounts/account.repository';
import { SessionOwner } from '../accounts/account-statements';
import { AuditEntry, byUser } from '../audit/audit-entry';
import { RequestOrigin, Sender } from '../../identity/request-origin';
import { addressNeeded } from '../auth.errors';
import { MailFlow } from '../mail/mail-flow';
import { EmailChangeService } from '../mail/email-change.service';
import { PasswordChangeService } from '../passwords/password-change.service';

interface ProfileInput {
  readonly name?: string;
  readonly email?: string;
  readonly password?: string;
  readonly currentPassword?: string;
  /** See PasswordChangeService. */
  readonly proof?: () => Promise<void>;
  readonly data?: JsonObject;
  /** True: `data` has only the members to replace; null removes a member. */
  readonly merges?: boolean;
}

@Injectable()
export class ProfileService {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly emails: EmailChangeService,
    private readonly passwords: PasswordChangeService,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 401 if there is no such user, or the session is over */
  async get(project: Project, userId: string, sessionId: string | null): Promise<Account> {
    const account = await this.accounts.findLive(project, userId, sessionId, this.clock.date());
    if (!account) throw invalidCredentials();
    return account;
  }

  /** Checks the new address and the passwords before it changes anything. @throws AppError 400, 401, 403, 429 */
  async updateProfile(
    { project, origin }: Sender,
    owner: SessionOwner,
    input: ProfileInput,
    flow?: MailFlow,
  ): Promise<Account> {
    const account = await this.get(project, owner.userId, owner.sessionId);
    assertUserData(input.merges ? mergedJson(account.data, input.data) : input.data);
    const { email, password, currentPassword, proof } = input;
    if (account.isAnonymous && email === undefined && password !== undefined) throw addressNeeded();
    if (email !== undefined || password !== undefined) await this.accounts.assertStrong(project, owner);
    const newEmail = email === undefined ? null : await this.emails.check(project, account, email);
    if (password !== undefined) {
      await this.passwords.change({ project, origin }, owner, { password, currentPassword, proof });
    }
    if (newEmail) await this.emails.request({ project, origin }, owner, account, newEmail, flow);
    const change = { name: input.name?.trim(), data: input.data, merges: input.merges };
    const entry = this.entry(account, input, origin);
    const changed = await this.accounts.updateProfile(project, owner, change, entry);
    if (!changed) throw invalidCredentials();
    return changed;
  }

  private entry({ id }: Account, input: ProfileInput, origin: RequestOrigin): AuditEntry {
    const fields = changedFields(input);
    const details: JsonObject = fields.length > 0 ? { fields } : {};
    return byUser('profile_updated', id, { now: this.clock.date(), origin, details });
  }
}

const NO_FIELDS: ReadonlySet<string> = new Set(['currentPassword', 'proof', 'merges']);

/** The names of the given fields, never their values. */
function changedFields(input: ProfileInput): string[] {
  return Object.entries(input).flatMap(([field, value]) =>
    value === undefined || NO_FIELDS.has(field) ? [] : [field],
  );
}
