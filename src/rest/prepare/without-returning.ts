/**
 * The same write without RETURNING, for rows that the caller may not read back. PostgreSQL refuses the whole statement then, and
 * its error does not say whether the write or the RETURNING was refused. A refused statement is undone, so the write runs once.
 */
import { DatabaseError } from 'pg';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { bindRequest } from '../compile/bind';
import { compileRequest } from '../compile/compile-request';
import type { CompiledRequest } from '../compile/compiled-statement';
import type { RequestPlan, WriteRequestPlan } from '../plan/plan';
import type { PreparedRequest } from './prepared-request';

interface WriteVariant {
  readonly plan: WriteRequestPlan;
  readonly compiled: CompiledRequest;
}

/** A plan serves many requests, and so does its variant without RETURNING. */
const VARIANTS = new WeakMap<RequestPlan, WriteVariant>();

/** True for an error that may be the read-back's alone. */
export function mayBeReadBack(error: unknown, { plan }: PreparedRequest): boolean {
  const isRefused = error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
  return isRefused && plan.kind === 'write' && plan.write.returning.kind !== 'nothing';
}

/** The same write, answered as return=minimal. */
export function withoutReturning(prepared: PreparedRequest): PreparedRequest {
  const { plan, compiled } = variantOf(prepared);
  return { ...prepared, plan, statements: bindRequest(compiled, prepared.values) };
}

function variantOf({ plan, catalog, bodyIsList }: PreparedRequest): WriteVariant {
  const known = VARIANTS.get(plan);
  if (known) return known;
  if (plan.kind !== 'write') throw new Error('only writes return rows that may be withheld');
  const variant: WriteRequestPlan = {
    ...plan,
    write: { ...plan.write, returning: { kind: 'nothing' } },
    representation: { kind: 'none' },
    rows: 'withheld',
  };
  const input = { catalogVersion: catalog.version, bodyIsList, printsRows: false };
  const made = { plan: variant, compiled: compileRequest(variant, input) };
  VARIANTS.set(plan, made);
  return made;
}
