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
   * The 401 of a caller whose session is over or whose role is refused; null for one in good standing. DECISIONS.md 3:
   * an invalid credential is 401 before anything else is looked at, and only the database knows of a revoked session.
   */
  async refusalOf(caller: Caller): Promise<AppError | null> {
    const isKey = caller.sessionId === null && (caller.role === ANON_ROLE || caller.role === SERVICE_ROLE);
    if (isKey) return null;
    try {
      await this.rls.query(caller, { name: 'caller-check', text: 'select' });
      return null;
    } catch (error) {
      if (error instanceof AppError && error.status === 401) return error;
      // A database that cannot be asked changes nothing about the answer that is due.
      return null;
    }
  }
}
