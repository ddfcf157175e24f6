/** Checks and hashes new passwords of users and of staff, and verifies presented passwords in the same time for any account. */
import { Injectable } from '@nestjs/common';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { Guess, GuessScope, GuessThrottle } from '../guess-throttle.service';
import { unacceptablePassword } from '../identity.errors';
import { BreachedPasswords } from './breached-passwords.service';
import { assertNewPassword, PasswordRules, unusableFault } from './password-policy';

interface WithPassword {
  /** Null if no password is valid. */
  readonly passwordHash: string | null;
}

/** Stands in for an unknown account, whose password takes as long to check as any other. */
export interface StandIn {
  readonly standInHash: string | null;
}

@Injectable()
export class Passwords {
  constructor(
    private readonly hasher: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly breached: BreachedPasswords,
  ) {}

  /** @throws AppError 400 for an unacceptable password, 429 when too many wait */
  async hashNew({ id }: GuessScope, password: string, rules: PasswordRules): Promise<string> {
    assertNewPassword(password, rules);
    if (rules.refuse_breached_passwords && (await this.breached.includes(password)))
      throw unacceptablePassword({ kind: 'breached', message: 'The password is known from a breach' });
    return this.hasher.hash(id, password);
  }

  /**
   * Does the same work for an unknown account and a wrong password.
   * @param find the account; null or a stand-in if there is none
   * @param refused runs while the failure is counted; for an unknown account too, so that its answer takes as
   * long
   * @returns null for an unknown account or a wrong password
   * @throws AppError 429
   */
  async check<Account extends WithPassword>(
    guess: Guess,
    password: string,
    find: () => Promise<Account | StandIn | null>,
    refused: (account: Account | null) => Promise<void> = async () => {},
  ): Promise<Account | null> {
    const { id } = guess.project;
    this.hasher.assertRoom(id);
    await this.throttle.assertMayTry(guess);
    const found = await find();
    const [account, hash] =
      found && 'standInHash' in found ? [null, found.standInHash] : [found, found?.passwordHash ?? null];
    // Checked again when the turn of the attempt comes, so that simultaneous guesses take earlier failures into account.
    const again = (): Promise<void> => this.throttle.assertMayTry(guess);
    const isRight = unusableFault(password) === null && (await this.hasher.verify(id, password, hash, again));
    if (account && isRight) {
      await this.throttle.succeeded(guess);
      return account;
    }
    await Promise.all([this.throttle.failed(guess), refused(account)]);
    return null;
  }

  /** A new hash of the same password if the current hash has a lower cost than configured; else null. */
  async rehash({ id }: GuessScope, password: string, hash: string | null): Promise<string | null> {
    return hash !== null && this.hasher.needsRehash(hash) ? this.hasher.hash(id, password) : null;
  }
}
