/** The error that the client gets for one that the database raised: some need more words than PostgreSQL's, some fewer. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import type { AppError } from '../../common/errors/app-error';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { nestsDeeply } from '../body/nests-deeply';
import type { PreparedRequest } from '../prepare/prepared-request';
import { mayBeReadBack, withoutReturning } from '../prepare/without-returning';
import { invalidBody, textHoldsNul } from '../rest.errors';
import { concealed } from './concealed-error';
import { raisedError } from './raised-error';
import { readBackRefused } from './read-back-refused';
import { recursionOf } from './recursion-error';
import { type RequestSender, settingsOf } from './request-settings';

@Injectable()
export class ErrorExplainer {
  constructor(private readonly door: RlsTransaction) {}

  /** The same error where nothing is to be added. */
  async explain(error: unknown, sender: RequestSender, prepared: PreparedRequest): Promise<unknown> {
    if (!(error instanceof DatabaseError)) return error;
    if (mayBeReadBack(error, prepared) && (await this.passesWithoutReturning(sender, prepared))) {
      return readBackRefused(error);
    }
    const { role, project } = sender.caller;
    return (
      raisedError(error, project.slug) ??
      valueRefused(error, prepared) ??
      concealed(error, role, prepared) ??
      recursionOf(error, role, prepared) ??
      error
    );
  }

  /** Whether the same write is allowed when nothing is read back: it is run, and rolled back. */
  private async passesWithoutReturning(sender: RequestSender, prepared: PreparedRequest): Promise<boolean> {
    try {
      const { main } = withoutReturning(prepared).statements;
      await this.door.runThenDecide(sender.caller, main, settingsOf(sender, prepared), () => 'rollback');
      return true;
    } catch {
      return false;
    }
  }
}

/** PostgreSQL's message is about an escape sequence or its stack; the client needs to know which value was refused. */
function valueRefused(error: DatabaseError, { values: { body } }: PreparedRequest): AppError | null {
  if (body === null) return null;
  if (error.code === '22P05' && body.includes('\\u0000')) return textHoldsNul(error);
  return error.code === '54001' && nestsDeeply(body) ? invalidBody('The body nests too deeply', error) : null;
}
