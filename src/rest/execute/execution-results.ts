/** What the results of a request's pipeline say: rows, estimate, settings. */
import type { StatementResult } from '../../database/statement';
import type { Execution } from './execution';
import type { RequestPipeline } from './request-pipeline';
import type { RowCollector } from '../../row-stream/row-collector';

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

/** Gives the lines of EXPLAIN to the rows, which were collected. */
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
