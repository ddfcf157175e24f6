/** Creates an account and mails a token to its address, both or neither: for sign-ups to verify, and for invitations. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { AppError } from '../../common/errors/app-error';
import { JsonObject } from '../../common/text/json';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account, NewAccount } from '../accounts/account';
import { isTakenAddress, refusingTakenAddress, toAccount } from '../accounts/account-record';
import { AccountRepository, accountInsertion } from '../accounts/account.repository';
import { Hooks } from '../hooks/hooks.service';
import { AuditContext, AuditEntry, byAnonymous } from '../audit/audit-entry';
import { isDomainAllowed, localPart, parseEmailAddress } from '../../identity/email-address';
import { AuthMailer } from './auth-mailer.service';
import { MailFlow, withCode } from './mail-flow';
import { newMailedToken } from './mailed-token';
import { tokenIssuance, TokenToMail } from './mailed-token.repository';

/** The entries of both statements. */
interface NewAccountAudit {
  readonly created: AuditEntry;
  readonly mailed: AuditEntry;
}

@Injectable()
export class NewAccountMailer {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly mailer: AuthMailer,
    private readonly accounts: AccountRepository,
    private readonly hooks: Hooks,
  ) {}

  /**
   * @param languages in order of preference
   * @throws AppError 400 if another account has the address, 429 if the quota of mails for today is used up
   */
  async create(
    project: Project,
    account: NewAccount,
    kind: 'verify' | 'invite',
    audit: NewAccountAudit,
    { languages = [], flow }: { languages?: readonly string[]; flow?: MailFlow } = {},
  ): Promise<Account> {
    const { key } = account.email;
    const { token, content: shown } = withCode(project, newMailedToken(kind, account.now), key, flow);
    const content = { to: key, ...shown, languages };
    const created = this.mailer.send(project, content, (mailId, sealed) =>
      this.write(project, account, { ...token, mailId, sealed }, audit),
    );
    return refusingTakenAddress(created);
  }

  /**
   * Creates the account of an address that has none, and writes the mail that signs its owner in. The answer to the request
   * was sent before, so nothing here affects it.
   * @returns false if the address may not sign up, or another request created its account
   */
  async createFor(
    project: Project,
    token: TokenToMail,
    { address, data }: { address: string; data: JsonObject },
    context: AuditContext,
  ): Promise<boolean> {
    const email = parseEmailAddress(address);
    const { signup_enabled: isOpen, allowed_email_domains: domains } = project.settings;
    if (!isOpen || !email || !isDomainAllowed(email, domains)) return false;
    const account: NewAccount = {
      id: randomUUID(),
      email,
      name: localPart(email),
      passwordHash: null,
      data,
      now: context.now,
    };
    if (!(await this.mayCreate(project, account, context))) return false;
    const audit = {
      created: byAnonymous('sign_up', account.id, context),
      mailed: byAnonymous('magic_link_requested', account.id, context),
    };
    try {
      await this.write(project, account, token, audit);
      return true;
    } catch (error) {
      if (isTakenAddress(error)) return false;
      throw error;
    }
  }

  /** Calls the project's hook for new addresses only. */
  private async mayCreate(project: Project, account: NewAccount, { origin }: AuditContext): Promise<boolean> {
    if (project.settings.before_user_created_hook === null) return true;
    if (await this.accounts.findCredentials(project, account.email.key)) return false;
    try {
      await this.hooks.beforeUserCreated({ project, origin }, account);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return false;
      throw error;
    }
  }

  private async write(
    project: Project,
    account: NewAccount,
    token: TokenToMail,
    audit: NewAccountAudit,
  ): Promise<Account> {
    const [created] = await this.rls.systemBatch(project.database, 'the account has no caller yet', [
      accountInsertion(account, audit.created),
      tokenIssuance(token, { userId: account.id }, audit.mailed),
    ]);
    return toAccount(created?.rows[0] ?? {});
  }
}
