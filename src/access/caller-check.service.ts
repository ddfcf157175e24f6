/** Asks the database whether a caller is still somebody, for answers that come before any statement of the caller's. */
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { ANON_ROLE, SERVICE_ROLE } from '../projects/project-keys';
import { Caller } from './caller';

@Injectable()
export class CallerCheck {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * Lets the database refuse a caller whose session is over or whose role may not be taken. A project's own keys need no
   * such look: whatever there is to check of them, the guards did.
   * @throws AppError 401; the driver's error where the database cannot be asked
   */
  async assertWelcome(caller: Caller): Promise<void> {
    const isKey = caller.sessionId === null && (caller.role === ANON_ROLE || caller.role === SERVICE_ROLE);
    if (!isKey) await this.rls.query(caller, { name: 'caller-check', text: 'select' });
  }

  /**
   * The 401 of a caller whose session is over or whose role is refused; null for one in good standing. DECISIONS.md 3:
   * an invalid credential is 401 before anything else is looked at, and only the database knows of a revoked session.
   */
  async refusalOf(caller: Caller): Promise<AppError | null> {
    try {
      await this.assertWelcome(caller);
      return null;
    } catch (error) {
      if (error instanceof AppError && error.status === 401) return error;
      // A database that cannot be asked changes nothing about the answer that is due.
      return null;
    }
  }
}
