/**
 * A write whose rows may not be read back, once more without returning them: PostgreSQL refuses the whole statement, and tells by
 * nothing whether it was the write or the RETURNING. What was refused is undone, so that the write runs once all the same.
 */
import { DatabaseError } from 'pg';
import { AppError } from '../../common/errors/app-error';
import { bindRequest } from '../compile/bind';
import { compileRequest, type CompiledRequest } from '../compile/compile-request';
import type { RequestPlan, WriteRequestPlan } from '../plan/plan';
import type { ParsedRequest } from '../query-parser.service';

const INSUFFICIENT_PRIVILEGE = '42501';

interface Silent {
  readonly plan: WriteRequestPlan;
  readonly compiled: CompiledRequest;
}

/** A plan serves many requests, and so does its silent counterpart. */
const SILENT = new WeakMap<RequestPlan, Silent>();

/** True for an error that may be the read-back's alone. */
export function mayBeReadBack(error: unknown, { plan }: ParsedRequest): boolean {
  const isRefused = error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
  return isRefused && plan.kind === 'write' && plan.write.returning.kind !== 'nothing';
}

/** The same write, answered as return=minimal. */
export function withoutRows(parsed: ParsedRequest): ParsedRequest {
  const { plan, compiled } = silentOf(parsed);
  return { ...parsed, plan, statements: bindRequest(compiled, parsed.values) };
}

function silentOf({ plan, catalog, bodyIsList }: ParsedRequest): Silent {
  const known = SILENT.get(plan);
  if (known) return known;
  if (plan.kind !== 'write') throw new Error('only writes return rows that may be withheld');
  const silent: WriteRequestPlan = {
    ...plan,
    write: { ...plan.write, returning: { kind: 'nothing' } },
    representation: { kind: 'none' },
    rows: 'withheld',
  };
  const input = { catalogVersion: catalog.version, bodyIsList, printsRows: false };
  const made = { plan: silent, compiled: compileRequest(silent, input) };
  SILENT.set(plan, made);
  return made;
}

/** For a request that asked for the rows. */
export function readBackRefused(error: DatabaseError): AppError {
  return new AppError({
    status: 403,
    code: INSUFFICIENT_PRIVILEGE,
    message: error.message,
    database: {
      sqlstate: INSUFFICIENT_PRIVILEGE,
      detail: error.detail ?? null,
      hint: 'The write itself is allowed, but reading the rows back was refused: ask for no rows with Prefer: return=minimal, or allow it with a policy and grant for SELECT.',
    },
    cause: error,
  });
}
