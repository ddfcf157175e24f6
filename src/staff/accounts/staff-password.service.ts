/** Passwords of staff: checked in the same time for any address, with the rules and the hashing of auth. */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import { Guess, GuessScope, GuessThrottle } from '../../identity/guess-throttle.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { unacceptablePassword } from '../../identity/identity.errors';
import { assertNewPassword, unusableFault } from '../../identity/passwords/password-policy';
import { PasswordHasher } from '../../infra/crypto/password-hasher';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { anonymousActor } from '../roles/staff';
import { wrongSignIn } from '../staff.errors';
import { StaffMemberRepository, SignInRecord } from './staff-member.repository';
import { STAFF_GUESSES } from './staff-guesses';

/** As strict as a careful project: these accounts reach every project. */
const RULES = { password_min_length: 8, refuse_common_passwords: true };

@Injectable()
export class StaffPasswords {
  constructor(
    private readonly members: StaffMemberRepository,
    private readonly hasher: PasswordHasher,
    private readonly throttle: GuessThrottle,
    private readonly audit: AuditLogRepository,
  ) {}

  /** @throws AppError 400 for an unacceptable password, 429 when too many wait */
  async hashNew(password: string): Promise<string> {
    assertNewPassword(password, RULES);
    return this.hasher.hash(STAFF_GUESSES.id, password);
  }

  /**
   * Does the same work for an unknown address, a wrong password and a disabled account.
   * @throws AppError 401, 400 for a text that cannot be a password, 429
   */
  async check(email: string, password: string, origin: RequestOrigin): Promise<SignInRecord> {
    this.hasher.assertRoom(STAFF_GUESSES.id);
    assertUsable(password);
    const emailKey = keyOf(email);
    const guess: Guess<GuessScope> = { project: STAFF_GUESSES, account: `email:${emailKey}`, origin };
    await this.throttle.assertMayTry(guess);
    const member = await this.members.findByEmail(emailKey);
    const matches = await this.hasher.verify(STAFF_GUESSES.id, password, member?.passwordHash ?? null, () =>
      this.throttle.assertMayTry(guess),
    );
    if (!member?.passwordHash || !matches || member.disabledAt !== null)
      return this.refuse(guess, member?.id ?? null);
    await this.throttle.succeeded(guess);
    if (this.hasher.needsRehash(member.passwordHash)) {
      const hash = await this.hasher.hash(STAFF_GUESSES.id, password);
      await this.members.setPassword(member.id, member.passwordHash, hash, null);
    }
    return member;
  }

  private async refuse(guess: Guess<GuessScope>, memberId: string | null): Promise<never> {
    await Promise.all([
      this.throttle.failed(guess),
      // Written for unknown addresses too: without it, their answers would come sooner.
      this.audit.write({
        actor: anonymousActor(guess.origin.ip),
        action: 'person.sign_in_failed',
        projectId: null,
        details: { person_id: memberId },
      }),
    ]);
    throw wrongSignIn();
  }
}

/** @throws AppError 400 */
function assertUsable(password: string): void {
  const fault = unusableFault(password);
  if (fault) throw unacceptablePassword(fault);
}

/** A text that is not an address matches no account, but is looked up like one. */
const keyOf = (email: string): string => parseEmailAddress(email)?.key ?? email.toLowerCase();
