/** Asks the database whether a caller's session and role are valid, for routes that run no statement as the caller. */
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { isFault } from '../common/errors/database-fault';
import { RlsTransaction } from '../database/rls/rls-transaction';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { answerToFault } from '../http/errors/fault-answers';
import { Caller } from './caller';

/** Roles of every project that every login role may switch to: they need no check in the database. */
const STANDARD_ROLES: ReadonlySet<string> = new Set(REQUEST_ROLES);

@Injectable()
export class CallerCheck {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * Checks the session and the role. Costs no round trip for keys, and for tokens of a standard role without a session.
   * @throws DatabaseFault caller_refused; the driver's error where the database cannot be asked
   */
  async assertValid(caller: Caller): Promise<void> {
    if (caller.sessionId !== null || !STANDARD_ROLES.has(caller.role)) await this.ask(caller);
  }

  /** Checks the role only, for routes that check the session later. @throws as assertValid() */
  async assertRole(caller: Caller): Promise<void> {
    if (!STANDARD_ROLES.has(caller.role)) await this.ask(caller);
  }

  /**
   * The 401 of a caller whose session ended or whose role is refused; null for a valid caller: an invalid
   * credential is 401 before everything else, and only the database knows revoked sessions.
   */
  async refusalOf(caller: Caller): Promise<AppError | null> {
    try {
      await this.assertValid(caller);
      return null;
    } catch (error) {
      if (isFault(error, 'caller_refused')) return answerToFault(error);
      // The database cannot be reached: keep the original answer.
      return null;
    }
  }

  private async ask(caller: Caller): Promise<void> {
    await this.rls.query(caller, { name: 'caller-check', text: 'select' });
  }
}
