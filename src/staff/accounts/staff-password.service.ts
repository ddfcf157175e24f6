/** Passwords of staff. */
import { Injectable } from '@nestjs/common';
import { parseEmailAddress } from '../../identity/email-address';
import type { RequestOrigin } from '../../identity/request-origin';
import { assertUsablePassword } from '../../identity/passwords/password-policy';
import { Passwords } from '../../identity/passwords/passwords.service';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { anonymousActor } from '../roles/staff';
import { wrongCredentials } from '../../identity/identity.errors';
import { SignInRecord, StaffMemberRepository } from './staff-member.repository';
import { STAFF_GUESSES } from './staff-member';

/** As strict as the rules of a careful project, because these accounts reach every project. */
const RULES = { password_min_length: 8, refuse_common_passwords: true };

@Injectable()
export class StaffPasswords {
  constructor(
    private readonly members: StaffMemberRepository,
    private readonly passwords: Passwords,
    private readonly audit: AuditLogRepository,
  ) {}

  /** @throws AppError 400 for an unacceptable password, 429 if too many passwords wait to be hashed */
  async hashNew(password: string): Promise<string> {
    return this.passwords.hashNew(STAFF_GUESSES, password, RULES);
  }

  /**
   * @throws AppError 401 for an unknown address, a wrong password and a disabled account, 400 for a text that
   * cannot be a password, 429 for too many attempts
   */
  async check(email: string, password: string, origin: RequestOrigin): Promise<SignInRecord> {
    assertUsablePassword(password);
    // A text that is not an address matches no account, but the lookup is the same.
    const key = parseEmailAddress(email)?.key ?? email.toLowerCase();
    const guess = { project: STAFF_GUESSES, account: `email:${key}`, origin };
    const find = async (): Promise<SignInRecord | null> => {
      const found = await this.members.findByEmail(key);
      return found?.disabledAt ? { ...found, passwordHash: null } : found;
    };
    const member = await this.passwords.check(guess, password, find, (found) =>
      this.audit.write({
        actor: anonymousActor(origin.ip),
        action: 'person.sign_in_failed',
        projectId: null,
        details: { person_id: found?.id ?? null },
      }),
    );
    if (!member) throw wrongCredentials();
    const hash = await this.passwords.rehash(STAFF_GUESSES, password, member.passwordHash);
    if (hash !== null) await this.members.setPassword(member.id, member.passwordHash ?? '', hash, null);
    return member;
  }
}
