/** The statements of one request in the order of execution. The door puts the caller's context before them. */
import type { Caller } from '../../access/caller';
import type { Statement } from '../../database/statement';
import { eachRow } from '../../pg-pipeline';
import type { RowCollector } from '../../row-stream/row-collector';
import type { BoundStatement } from '../compile/compiled-statement';
import { INSERTED_SETTING } from '../compile/compile-write';
import type { PreparedRequest } from '../prepare/prepared-request';
import { preRequestStatement, roleStatement, timezoneStatement } from './request-settings';
import { printed, ValueRows } from './value-rows';

export interface RequestPipeline {
  readonly statements: readonly Statement[];
  /** Rows that the database sends but the client does not get: the total after the last page comes in such a row. */
  readonly absent: { rows: number };
  /** Number of statements before the main statements, such as the pre-request function and the count. */
  readonly before: number;
  /** Number of main statements, whose rows are the response. */
  readonly mains: number;
  /** True when the last statement before the main statements is an EXPLAIN for the count. */
  readonly hasEstimate: boolean;
}

/** Maximum characters. Truncated headers are not valid JSON, and are refused. */
const MAX_HEADERS = 16_384;

const RESPONSE_SETTINGS = `select left(nullif(current_setting('response.headers', true), ''), ${MAX_HEADERS}) as headers,
  left(nullif(current_setting('response.status', true), ''), 100) as status,
  left(nullif(current_setting('${INSERTED_SETTING}', true), ''), 20) as inserted`;

export function requestPipeline(
  caller: Caller,
  prepared: PreparedRequest,
  collector: RowCollector,
): RequestPipeline {
  const { plan, statements } = prepared;
  const absent = { rows: 0 };
  const before = [
    ...contextStatements(caller, prepared),
    ...settingsBefore(caller, prepared, collector),
    ...countStatements(prepared, collector),
  ];
  const mains = statements.main.map((one) => mainStatement(one, plan.representation.kind, collector, absent));
  return {
    statements: [...before, ...mains, ...statementsAfter(prepared)],
    absent,
    before: before.length,
    mains: mains.length,
    hasEstimate: statements.plannedCount !== null,
  };
}

/** Settings that the context statement of the door does not set: those of the role, the time zone, the pre-request function. */
function contextStatements(caller: Caller, prepared: PreparedRequest): Statement[] {
  const list: Statement[] = [];
  const ofRole = roleStatement(caller, prepared);
  if (ofRole) list.push(ofRole);
  const { timezone } = prepared.shape.preferences;
  if (timezone !== null) list.push(timezoneStatement(timezone));
  const { pre_request: preRequest } = caller.project.settings;
  if (preRequest !== null) list.push(preRequestStatement(preRequest));
  return list;
}

/** Rows that stream are sent before the statement has ended, and the response headers before them. */
function settingsBefore(
  caller: Caller,
  { plan, catalog }: PreparedRequest,
  collector: RowCollector,
): Statement[] {
  const hasPreRequest = caller.project.settings.pre_request !== null;
  if (!hasPreRequest || plan.kind !== 'read' || !catalog.setsResponse) return [];
  const onRow = ([headers, status]: (Buffer | null)[]): void =>
    collector.onResponseSettings({
      headers: headers?.toString() ?? null,
      status: status?.toString() ?? null,
    });
  return [{ name: 'rest:beforehand', text: RESPONSE_SETTINGS, sink: eachRow(onRow) }];
}

function countStatements(
  { statements: { exactCount, plannedCount } }: PreparedRequest,
  collector: RowCollector,
) {
  const list: Statement[] = [];
  if (exactCount) list.push({ ...exactCount, sink: eachRow(([value]) => collector.onTotal(Number(value))) });
  if (plannedCount) list.push({ text: plannedCount.text, values: plannedCount.values });
  return list;
}

/** EXPLAIN does not return binary values, so its rows are collected. */
function mainStatement(
  { text, values, name, row }: BoundStatement,
  kind: string,
  collector: RowCollector,
  absent: RequestPipeline['absent'],
): Statement {
  if (kind === 'explain') return { text, values };
  if (row) return { text, values, name, sink: printed(row, collector) };
  return { text, values, name, sink: new ValueRows(collector, absent) };
}

function statementsAfter({ plan, catalog, shape }: PreparedRequest): Statement[] {
  const list: Statement[] = [];
  const isUpsert = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.conflict !== null;
  if (isUpsert || catalog.setsResponse) list.push({ name: 'rest:afterwards', text: RESPONSE_SETTINGS });
  // A dry run reports the errors that a commit would.
  if (shape.preferences.tx === 'rollback') list.push({ text: 'set constraints all immediate' });
  return list;
}
