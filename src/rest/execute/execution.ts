/** The output of the run stage, except the rows. */
import type { StatementResult } from '../../database/statement';
import type { RequestPipeline } from './request-pipeline';
import type { RowCollector } from '../../row-stream/row-collector';
import type { PreparedRequest } from '../prepare/prepared-request';
import { maxAffectedExceeded, notSingular, putMismatch } from '../rest.errors';

/** response.headers and response.status, as SQL set them. */
export interface ResponseSettings {
  readonly headers: string | null;
  readonly status: string | null;
}

export interface Execution {
  /** Number of rows returned or changed. */
  readonly rows: number;
  /** The planner's estimate of all rows of a read; null if it was not requested. */
  readonly estimate: number | null;
  /** Number of rows that an upsert has inserted; 0 for other requests. */
  readonly inserted: number;
  readonly response: ResponseSettings;
  /** The token for later reads that must see this write (read-source.ts); null for reads, and if there are no replicas. */
  readonly token: string | null;
}

/** The settings among the results of a request's pipeline. */
interface SettingsRow {
  readonly headers: string | null;
  readonly status: string | null;
  readonly inserted: string | null;
}

interface ExplainRow {
  readonly 'QUERY PLAN'?: { readonly Plan?: { readonly 'Plan Rows'?: number } }[];
}

export function executionOf(
  results: readonly StatementResult[],
  pipeline: RequestPipeline,
  token: string | null = null,
): Execution {
  const mains = mainResults(results, pipeline);
  const after = results[pipeline.before + pipeline.mains]?.rows[0] as SettingsRow | undefined;
  return {
    rows: mains.reduce((sum, { rowCount }) => sum + rowCount, 0) - pipeline.absent.rows,
    estimate: estimateOf(results, pipeline),
    inserted: Number(after?.inserted ?? 0),
    response: { headers: after?.headers ?? null, status: after?.status ?? null },
    token,
  };
}

/** Passes the collected lines of EXPLAIN to the rows. */
export function takePlanLines(
  results: readonly StatementResult[],
  pipeline: RequestPipeline,
  collector: RowCollector,
): void {
  for (const { rows } of mainResults(results, pipeline)) {
    for (const { 'QUERY PLAN': line } of rows) {
      collector.onRow(Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)));
    }
  }
}

function mainResults(results: readonly StatementResult[], { before, mains }: RequestPipeline) {
  return results.slice(before, before + mains);
}

/** The planner's estimate, from EXPLAIN (FORMAT JSON). */
function estimateOf(
  results: readonly StatementResult[],
  { before, hasEstimate }: RequestPipeline,
): number | null {
  if (!hasEstimate) return null;
  const row = results[before - 1]?.rows[0] as ExplainRow | undefined;
  return row?.['QUERY PLAN']?.[0]?.Plan?.['Plan Rows'] ?? null;
}

/** @throws AppError PL115, PL116 or PL124 if the rows must be undone */
export type CommitDecision = (rows: number) => 'commit' | 'rollback';

/** Null when the outcome can be committed immediately, which saves a round trip. */
export function commitDecision({ plan, shape }: PreparedRequest): CommitDecision | null {
  const { tx, handling, maxAffected } = shape.preferences;
  // EXPLAIN returns lines, not the rows on which the decision depends.
  const changes = plan.kind !== 'read' && plan.representation.kind !== 'explain';
  const isPut = changes && shape.method === 'PUT';
  const limit = handling === 'strict' && changes ? maxAffected : null;
  const isSingular = changes && plan.singular;
  if (tx !== 'rollback' && limit === null && !isSingular && !isPut) return null;
  return (rows) => {
    if (isPut && rows !== 1) throw putMismatch();
    if (isSingular && rows !== 1) throw notSingular(rows);
    if (limit !== null && rows > limit) throw maxAffectedExceeded(rows);
    return tx === 'rollback' ? 'rollback' : 'commit';
  };
}
