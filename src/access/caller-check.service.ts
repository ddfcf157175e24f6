/** Asks the database whether a caller's session and role are valid, for routes that run no statement as the caller. */
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { isFault } from '../common/errors/database-fault';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { answerToFault } from '../http/errors/fault-answers';
import { Caller } from './caller';

/** Roles that every project has and every login role may become: the database need not be asked about them. */
const STANDARD_ROLES: ReadonlySet<string> = new Set(REQUEST_ROLES);

@Injectable()
export class CallerCheck {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * Asks about the session and the role. Costs no round trip for keys, and for tokens of a standard role without a session.
   * @throws DatabaseFault caller_refused; the driver's error where the database cannot be asked
   */
  async assertWelcome(caller: Caller): Promise<void> {
    if (caller.sessionId !== null || !STANDARD_ROLES.has(caller.role)) await this.ask(caller);
  }

  /** Asks about the role only, where the session is checked later. @throws like assertWelcome() */
  async assertRole(caller: Caller): Promise<void> {
    if (!STANDARD_ROLES.has(caller.role)) await this.ask(caller);
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
      if (isFault(error, 'caller_refused')) return answerToFault(error);
      // A database that cannot be asked changes nothing about the answer that is due.
      return null;
    }
  }

  private async ask(caller: Caller): Promise<void> {
    await this.rls.query(caller, { name: 'caller-check', text: 'select' });
  }
}
