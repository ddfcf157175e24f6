/**
 * Slows down guessing: after several wrong passwords for an account, or from an address, each further attempt must wait,
 * longer every time. The right password waits as well: otherwise the 429 would reveal that it is right.
 */
import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { rateLimited } from '../access/access.errors';
import { AUTH_CONFIG, AuthConfig } from '../config/app-config';
import { FailureLedger, FailurePolicy } from '../infra/coordination/failure-ledger';
import { Project } from '../projects/project';
import { RequestOrigin } from './request-origin';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Guesses are counted separately for each project and for the staff of the installation. */
export type GuessScope = Pick<Project, 'id'>;

/** An attempt of a client on an account. */
export interface Guess extends GuessOrigin {
  /** Identifies the account; it need not exist. */
  readonly account: string;
}

/** An attempt that names no account, such as one with a mailed token. */
export interface GuessOrigin {
  readonly project: GuessScope;
  readonly origin: RequestOrigin;
}

type GuessPolicies = Readonly<
  Record<'account' | 'address' | 'mailbox' | 'testMail' | 'inviter' | 'inviterMailbox', FailurePolicy>
>;

@Injectable()
export class GuessThrottle {
  private readonly policies: GuessPolicies;

  constructor(
    private readonly ledger: FailureLedger,
    @Inject(AUTH_CONFIG) config: AuthConfig,
  ) {
    this.policies = policiesOf(config);
  }

  /** @throws AppError 429 while the account or the address has to wait */
  async assertMayTry(guess: Guess): Promise<void> {
    assertNoWait(await this.ledger.blockedFor([accountKey(guess), addressKey(guess)]));
  }

  async failed(guess: Guess): Promise<void> {
    await Promise.all([
      this.ledger.fail(accountKey(guess), this.policies.account),
      this.ledger.fail(addressKey(guess), this.policies.address),
    ]);
  }

  /**
   * Counts an attempt as failed before it is made: simultaneous attempts then gain nothing over attempts in a row. succeeded()
   * clears the count.
   * @throws AppError 429 while the account or the address has to wait; such an attempt is not counted
   */
  private async chargeTry(guess: Guess): Promise<void> {
    await this.assertMayTryFrom(guess);
    assertNoWait(await this.ledger.charge(accountKey(guess), this.policies.account));
  }

  /**
   * Makes an attempt with a secret that is compared quickly, such as a code.
   * @param work null or false: the secret is wrong @throws AppError 429
   */
  async attempt<Result>(guess: Guess, work: () => Promise<Result>): Promise<Result> {
    await this.chargeTry(guess);
    const result = await work();
    await (result ? this.succeeded(guess) : this.failedFrom(guess));
    return result;
  }

  /** Like attempt(), for another name of the same account: the address is not counted a second time. @throws AppError 429 */
  async attemptOn(guess: Guess, work: () => Promise<boolean>): Promise<boolean> {
    assertNoWait(await this.ledger.charge(accountKey(guess), this.policies.account));
    const isRight = await work();
    if (isRight) await this.succeeded(guess);
    return isRight;
  }

  /** Like attempt(), for an attempt that names no account, such as one with a token of 256 bits. @throws AppError 429 */
  async attemptFrom<Result>(from: GuessOrigin, work: () => Promise<Result>): Promise<Result> {
    await this.assertMayTryFrom(from);
    const result = await work();
    if (!result) await this.failedFrom(from);
    return result;
  }

  /** Like attemptFrom(), for work that throws when the secret is wrong. @throws AppError 429 */
  async attemptOrThrow<Result>(from: GuessOrigin, work: () => Promise<Result>): Promise<Result> {
    await this.assertMayTryFrom(from);
    return work().catch(async (error: unknown) => {
      await this.failedFrom(from);
      throw error;
    });
  }

  /** @throws AppError 429 while the address has to wait */
  private async assertMayTryFrom(from: GuessOrigin): Promise<void> {
    assertNoWait(await this.ledger.blockedFor([addressKey(from)]));
  }

  /** Counts a failed attempt that names no account, or whose account chargeTry() has already counted. */
  private async failedFrom(from: GuessOrigin): Promise<void> {
    await this.ledger.fail(addressKey(from), this.policies.address);
  }

  /**
   * Forgets the failures of the account. Those of the address stay: otherwise an attacker with their own account
   * could clear them at will.
   */
  async succeeded(guess: Guess): Promise<void> {
    await this.ledger.forget(accountKey(guess));
  }

  /**
   * Counts a mail that anybody can request: some immediately, then one after five minutes, one after ten, and so on.
   * @throws AppError 429 while the mailbox has to wait, whether it has an account or not
   */
  async assertMayMail(project: GuessScope, emailKey: string): Promise<void> {
    const key = `mail:${project.id}:${digest(emailKey)}`;
    assertNoWait(await this.ledger.charge(key, this.policies.mailbox));
  }

  /**
   * Counts a test mail, for its recipient like any other mail, and for the project: its administrator chooses recipient and
   * content.
   * @throws AppError 429 while the mailbox or the project has to wait
   */
  async assertMayTestMail(project: GuessScope, emailKey: string): Promise<void> {
    await this.assertMayMail(project, emailKey);
    assertNoWait(await this.ledger.charge(`test-mail:${project.id}`, this.policies.testMail));
  }

  /**
   * Counts an invitation, for its recipient like any other mail, and for the staff member who invites: one staff member cannot
   * use up the limit of an address for others.
   * @param inviter null: not limited
   * @throws AppError 429 while the inviter or the mailbox has to wait
   */
  async assertMayInvite(scope: GuessScope, inviter: string | null, emailKey: string): Promise<void> {
    if (inviter !== null) {
      const key = `inviter:${scope.id}:${inviter}`;
      assertNoWait(await this.ledger.charge(`${key}:${digest(emailKey)}`, this.policies.inviterMailbox));
      assertNoWait(await this.ledger.charge(key, this.policies.inviter));
    }
    await this.assertMayMail(scope, emailKey);
  }

  /**
   * Counts the addresses that a user tries to change to. The response reveals whether an address has an account, so a user may
   * not try many.
   * @throws AppError 429 while the user has to wait
   */
  async assertMayAskForAddress(project: GuessScope, userId: string): Promise<void> {
    assertNoWait(await this.ledger.charge(`address-change:${project.id}:${userId}`, this.policies.mailbox));
  }
}

function policiesOf(config: AuthConfig): GuessPolicies {
  return {
    account: {
      free: config.failuresPerAccount,
      firstDelayMs: 2 * SECOND,
      maxDelayMs: 15 * MINUTE,
      memoryMs: HOUR,
    },
    // An office may share one address, so it never waits longer than a minute.
    address: {
      free: config.failuresPerAddress,
      firstDelayMs: SECOND,
      maxDelayMs: MINUTE,
      memoryMs: 15 * MINUTE,
    },
    mailbox: { free: config.mailsPerHour, firstDelayMs: 5 * MINUTE, maxDelayMs: HOUR, memoryMs: HOUR },
    inviter: { free: 30, firstDelayMs: 2 * MINUTE, maxDelayMs: HOUR, memoryMs: HOUR },
    inviterMailbox: { free: 3, firstDelayMs: 15 * MINUTE, maxDelayMs: HOUR, memoryMs: HOUR },
    testMail: { free: 20, firstDelayMs: 10 * SECOND, maxDelayMs: 5 * MINUTE, memoryMs: HOUR },
  };
}

function assertNoWait(waitMs: number): void {
  if (waitMs > 0) throw rateLimited(waitMs / SECOND);
}

function accountKey({ project, account }: Guess): string {
  return `account:${project.id}:${digest(account)}`;
}

function addressKey({ project, origin }: GuessOrigin): string {
  return `address:${project.id}:${origin.ip}`;
}

/** A key of fixed length for text of any length. */
function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
