/**
 * Makes guessing slow: after some wrong passwords for an account, or from an address, each further try must wait,
 * longer every time. Who waits is told so with 429, also with the right password: the answer must not tell.
 */
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { rateLimited } from '../../access/access.errors';
import { AUTH_CONFIG, AuthConfig } from '../../config/app-config';
import { FailureLedger, FailurePolicy } from '../../infra/coordination/failure-ledger';
import { Project } from '../../projects/project';
import { RequestOrigin } from '../audit/request-origin';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Who is being guessed, by whom. */
export interface Guess {
  readonly project: Project;
  /** What identifies the account, whether it exists or not. */
  readonly account: string;
  readonly origin: RequestOrigin;
}

@Injectable()
export class GuessThrottle {
  private readonly perAccount: FailurePolicy;
  private readonly perAddress: FailurePolicy;
  private readonly perMailbox: FailurePolicy;

  constructor(
    private readonly ledger: FailureLedger,
    @Inject(AUTH_CONFIG) config: AuthConfig,
  ) {
    this.perAccount = {
      free: config.failuresPerAccount,
      firstDelayMs: 2 * SECOND,
      maxDelayMs: 15 * MINUTE,
      memoryMs: HOUR,
    };
    // An office behind one address shares this one, so it never waits longer than a minute.
    this.perAddress = {
      free: config.failuresPerAddress,
      firstDelayMs: SECOND,
      maxDelayMs: MINUTE,
      memoryMs: 15 * MINUTE,
    };
    this.perMailbox = {
      free: config.mailsPerHour,
      firstDelayMs: 5 * MINUTE,
      maxDelayMs: HOUR,
      memoryMs: HOUR,
    };
  }

  /** @throws AppError 429 while the account or the address has to wait */
  async assertMayTry(guess: Guess): Promise<void> {
    const waitMs = await this.ledger.blockedFor([accountKey(guess), addressKey(guess)]);
    if (waitMs > 0) throw rateLimited(waitMs / SECOND);
  }

  async failed(guess: Guess): Promise<void> {
    await Promise.all([
      this.ledger.fail(accountKey(guess), this.perAccount),
      this.ledger.fail(addressKey(guess), this.perAddress),
    ]);
  }

  /**
   * Counts a try before its outcome is known, for what is compared in no time: of a hundred that arrive together only as
   * many are made as would be one after the other. A try that succeeds is forgotten by succeeded().
   * @throws AppError 429 while the account or the address has to wait; such a try is not counted
   */
  async chargeTry(guess: Guess): Promise<void> {
    const addressMs = await this.ledger.blockedFor([addressKey(guess)]);
    const waitMs = addressMs > 0 ? addressMs : await this.ledger.charge(accountKey(guess), this.perAccount);
    if (waitMs > 0) throw rateLimited(waitMs / SECOND);
  }

  /** For what names no account, such as a mailed token. @throws AppError 429 while the address has to wait */
  async assertMayTryFrom(from: Pick<Guess, 'project' | 'origin'>): Promise<void> {
    const waitMs = await this.ledger.blockedFor([addressKey(from)]);
    if (waitMs > 0) throw rateLimited(waitMs / SECOND);
  }

  /** A try of which the account is unknown, or counted by chargeTry() already: the address has to do with it. */
  async failedFrom(from: Pick<Guess, 'project' | 'origin'>): Promise<void> {
    await this.ledger.fail(addressKey(from), this.perAddress);
  }

  /** Forgets the account's failures, not the address's: one good account must not pay for guessing others. */
  async succeeded(guess: Guess): Promise<void> {
    await this.ledger.forget(accountKey(guess));
  }

  /**
   * Mails that strangers can cause: some at once, then one after five minutes, ten, and so on.
   * @throws AppError 429 while a mailbox has received enough, whether it has an account or not
   */
  async assertMayMail(project: Project, emailKey: string): Promise<void> {
    const waitMs = await this.ledger.charge(`mail:${project.id}:${digest(emailKey)}`, this.perMailbox);
    if (waitMs > 0) throw rateLimited(waitMs / SECOND);
  }
}

function accountKey({ project, account }: Guess): string {
  return `account:${project.id}:${digest(account)}`;
}

function addressKey({ project, origin }: Pick<Guess, 'project' | 'origin'>): string {
  return `address:${project.id}:${origin.ip}`;
}

/** Of one length, whatever was typed. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
