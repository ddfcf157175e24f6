/** The output of the prepare stage: the statements of one request with its values, and what the later stages need of its plan. */
import type { Catalog } from '../catalog/catalog';
import { type BoundRequest, bindRequest, type CompiledRequest } from '../compile/compiled-statement';
import type { RequestValues } from '../compile/statement-builder';
import { type QueryValues, textsByName } from '../grammar/query-values';
import type { RequestShape } from '../grammar/rest-request';
import type { RequestPlan, WriteRequestPlan } from '../plan/plan';
import type { RequestBody } from '../body/request-body';
import { DatabaseError } from 'pg';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { compileRequest } from '../compile/compile-request';

/** The catalog that a request is prepared on. */
export interface CatalogSnapshot {
  readonly catalog: Catalog;
  /** False while the schema is changing: nothing that depends on it is cached, and PostgreSQL prints the rows. */
  readonly isSettled: boolean;
}

export interface PreparedRequest {
  readonly shape: RequestShape;
  /** The query's parameters as they were written. */
  readonly parameters: QueryValues['parameters'];
  /** The plan, shared with other requests of the shape. */
  readonly plan: RequestPlan;
  readonly statements: BoundRequest;
  /** This request's values for the parameters of its statements; their body is JSON for a write, any text for a call. */
  readonly values: RequestValues;
  readonly bodyIsList: boolean;
  readonly catalog: Catalog;
  /** The schema in which names without a schema are searched. */
  readonly schema: string;
  /** The schema that Content-Profile names if the project exposes several; null if it exposes only one. */
  readonly profile: string | null;
}

/** @param body null if the request has none */
export function requestValues(
  values: Omit<QueryValues, 'parameters'>,
  body: RequestBody | null,
): RequestValues {
  return {
    filters: values.filters,
    arguments: body?.fields ? textsByName(body.fields) : values.arguments,
    body: body?.payload?.json ?? body?.bytes ?? null,
  };
}

/**
 * The same write without RETURNING, for rows that the caller may not read back. In that case PostgreSQL
 * refuses the whole statement, and its error does not say whether the write or the RETURNING was refused. A
 * refused statement is undone, so the write runs once.
 */
interface WriteVariant {
  readonly plan: WriteRequestPlan;
  readonly compiled: CompiledRequest;
}

/** A plan serves many requests, and so does its variant without RETURNING. */
const VARIANTS = new WeakMap<RequestPlan, WriteVariant>();

/** True for an error that RETURNING alone may have caused. */
export function mayBeReadBack(error: unknown, { plan }: PreparedRequest): boolean {
  const isRefused = error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE;
  return isRefused && plan.kind === 'write' && plan.write.returning.kind !== 'nothing';
}

/** The same write, answered as with return=minimal. */
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
