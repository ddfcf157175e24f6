/** The error that the client gets for an error of the database: some errors need more words than PostgreSQL's, some fewer. */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import { isNestedDeeper } from '../../common/text/json';
import { AppError } from '../../common/errors/app-error';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { type PreparedRequest, mayBeReadBack, withoutReturning } from '../prepare/prepared-request';
import { invalidBody, textHoldsNul } from '../rest.errors';
import { raisedError } from './raised-error';
import { type RequestSender, settingsOf } from './request-settings';
import { isVisible } from '../plan/plan-context';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { statusOfSqlstate } from '../../http/errors/sqlstate-status';

@Injectable()
export class ErrorExplainer {
  constructor(private readonly door: RlsTransaction) {}

  /** Returns the same error if there is nothing to add. */
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

  /** Whether the same write is allowed without reading rows back: it is run, and rolled back. */
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

/** Number of levels of nesting that count as deep; PostgreSQL's default stack holds a few thousand levels. */
const DEEP = 1_000;

/** PostgreSQL's message is about an escape sequence or its stack; the client needs to know which value was refused. */
function valueRefused(error: DatabaseError, { values: { body } }: PreparedRequest): AppError | null {
  if (body === null) return null;
  if (error.code === '22P05' && body.includes('\\u0000')) return textHoldsNul(error);
  return error.code === '54001' && isNestedDeeper(body.toString(), DEEP)
    ? invalidBody('The body nests too deeply', error)
    : null;
}

/** The function of PostgreSQL that reports a missing privilege. Unlike the message, it does not depend on the language. */
const MISSING_PRIVILEGE = 'aclcheck_error';

/** The error that hides what the message reveals; null for an error that reveals nothing. */
function concealed(error: DatabaseError, role: string, { catalog, plan }: PreparedRequest): AppError | null {
  const { schema, table } = error;
  if (error.routine === MISSING_PRIVILEGE) {
    const requested = plan.kind === 'call' ? plan.call.routine.name : plan.relation.name;
    if (isAbout(requested, error.message)) return null;
    return errorWithMessage(error, `permission denied for '${requested}', or for something that it uses`);
  }
  if (schema === undefined || table === undefined) return null;
  const isRequested = plan.kind !== 'call' && plan.relation.schema === schema && plan.relation.name === table;
  if (isRequested || isVisible({ catalog, role }, { schema, name: table })) return null;
  return errorWithMessage(error, 'a constraint of a related table is violated');
}

/** True when the message names only objects that the client itself named. Messages in other languages never match. */
function isAbout(requested: string, message: string): boolean {
  const [, name] =
    /^permission denied for (?:table|view|materialized view|foreign table|function) (.*)$/s.exec(message) ??
    [];
  return name === requested;
}

/**
 * A policy or view that refers to itself. PostgreSQL's message names the relation, which the author of the policy needs to know.
 * It is shown if the caller has rights to that relation; otherwise the message is the general one of status 500.
 */
const INVALID_OBJECT_DEFINITION = '42P17';
/** Messages in other languages may quote differently; they are not shown. */
const RELATION_AT_END = /^[^"]*"(.+)"$/;

/**
 * The error for a policy or view that refers to itself. Null for any other error, and for a relation that is
 * hidden from the caller.
 */
function recursionOf(error: DatabaseError, role: string, prepared: PreparedRequest): AppError | null {
  if (error.code !== INVALID_OBJECT_DEFINITION) return null;
  const name = RELATION_AT_END.exec(error.message)?.[1];
  if (
    name === undefined ||
    !isVisible({ catalog: prepared.catalog, role }, { schema: prepared.schema, name })
  ) {
    return null;
  }
  return errorWithMessage(error, error.message);
}

/** Explains the refusal of a write whose rows the request asked for and the caller may not read. */
function readBackRefused(error: DatabaseError): AppError {
  return new AppError(403, INSUFFICIENT_PRIVILEGE, error.message, {
    database: {
      sqlstate: INSUFFICIENT_PRIVILEGE,
      detail: error.detail ?? null,
      hint: 'The write itself is allowed, but reading the rows back was refused: ask for no rows with Prefer: return=minimal, or allow it with a policy and grant for SELECT.',
    },
    cause: error,
  });
}

/** A database error with another message: status and SQLSTATE stay the same, everything else is only logged. */
function errorWithMessage(error: DatabaseError, message: string): AppError {
  const { code: sqlstate = 'XX000' } = error;
  return new AppError(statusOfSqlstate(sqlstate), sqlstate, message, {
    database: { sqlstate },
    cause: error,
  });
}
