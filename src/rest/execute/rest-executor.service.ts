/**
 * Runs a compiled request through the door: one round trip, except where the result decides whether it is committed.
 */
import { Injectable } from '@nestjs/common';
import { DatabaseError } from 'pg';
import type { Caller } from '../../access/caller';
import { AppError } from '../../common/errors/app-error';
import type { Statement, StatementResult } from '../../database/pools/pipelined-query';
import type { ContextSettings } from '../../database/rls/rls-context';
import { RlsTransaction, type StreamTaker } from '../../database/rls/rls-transaction';
import { quoteIdentifier, quoteQualified } from '../../database/sql/identifier';
import { nestsDeeply } from '../body/nests-deeply';
import type { BoundStatement } from '../compile/bind';
import { INSERTED_SETTING } from '../compile/compile-write';
import type { JsonRow } from '../../database/rows/json-row';
import type { ParsedRequest } from '../query-parser.service';
import { invalidBody, maxAffectedExceeded, notSingular, putMismatch, textHoldsNul } from '../rest.errors';
import { concealed } from './concealed-error';
import { raisedError } from './raised-error';
import { recursionOf } from './recursion-error';
import { printed } from './printed-rows';
import { mayBeReadBack, readBackRefused, withoutRows } from './without-rows';
import { type RequestFacts, roleStatement, settingsOf, timezoneStatement } from './request-settings';

/** response.headers and response.status, as SQL set them. */
export interface ResponseSettings {
  readonly headers: string | null;
  readonly status: string | null;
}

/** Takes the rows as they come. */
export interface RowTaker extends StreamTaker {
  /** UTF-8, to be copied: valid until this returns. */
  onRow(text: Buffer | null): void;
  /** The same for a row that is still to be printed: its columns, as JsonRow.print() takes them. */
  onColumns(row: JsonRow, bytes: Buffer, start: number, end: number): void;
  /** The same for a large row, of which this is a part, cut anywhere. */
  onColumnsPart(row: JsonRow, bytes: Buffer, start: number, end: number, isLast: boolean): void;
  /** Before the first row, where the client asked for a count. */
  onTotal(total: number): void;
  /** Before the first row of a read: what the pre-request function set. */
  onResponseSettings(settings: ResponseSettings): void;
}

export interface Execution {
  /** Rows returned or changed. */
  readonly rows: number;
  /** The planner's guess of all rows of a read; null when nobody asked. */
  readonly guess: number | null;
  /** Of an upsert that merges: rows that were not there before; 0 otherwise. */
  readonly inserted: number;
  readonly response: ResponseSettings;
  /** What ran in place of a write whose rows the caller may not read and did not ask for; null for all else. */
  readonly silent: ParsedRequest | null;
}

interface Pipeline {
  readonly statements: readonly Statement[];
  /** Rows that the database sent and that are none: a total behind the last page. */
  readonly absent: { rows: number };
  /** How many come before the main ones: the pre-request function, the count. */
  readonly before: number;
  readonly mains: number;
  /** True when the last of those before is an EXPLAIN for the count. */
  readonly hasGuess: boolean;
}

/** Characters; headers that are cut are no JSON any more, and refused as such. */
const MAX_HEADERS = 16_384;

const RESPONSE_SETTINGS = `select left(nullif(current_setting('response.headers', true), ''), ${MAX_HEADERS}) as headers,
  left(nullif(current_setting('response.status', true), ''), 100) as status,
  left(nullif(current_setting('${INSERTED_SETTING}', true), ''), 20) as inserted`;

@Injectable()
export class RestExecutor {
  constructor(private readonly door: RlsTransaction) {}

  /** @throws AppError or the driver's DatabaseError */
  async execute(
    caller: Caller,
    parsed: ParsedRequest,
    facts: RequestFacts,
    taker: RowTaker,
  ): Promise<Execution> {
    const settings = settingsOf(caller, parsed, facts);
    try {
      return await this.attempt(caller, parsed, settings, taker);
    } catch (error) {
      const isUnasked = parsed.plan.kind === 'write' && parsed.plan.rows === 'unasked';
      if (!isUnasked || !mayBeReadBack(error, parsed) || !taker.onRepeat())
        throw await this.explained(error, caller, parsed, settings);
    }
    return this.executeWithoutRows(caller, withoutRows(parsed), settings, taker);
  }

  private async executeWithoutRows(
    caller: Caller,
    silent: ParsedRequest,
    settings: ContextSettings,
    taker: RowTaker,
  ): Promise<Execution> {
    try {
      return { ...(await this.attempt(caller, silent, settings, taker)), silent };
    } catch (error) {
      throw await this.explained(error, caller, silent, settings);
    }
  }

  private async attempt(
    caller: Caller,
    parsed: ParsedRequest,
    settings: ContextSettings,
    taker: RowTaker,
  ): Promise<Execution> {
    const pipeline = pipelineOf(caller, parsed, taker);
    const results = await this.run(caller, parsed, settings, pipeline, taker);
    if (parsed.plan.representation.kind === 'explain') handOnPlan(results, pipeline, taker);
    return executionOf(results, pipeline);
  }

  private run(
    caller: Caller,
    parsed: ParsedRequest,
    settings: ContextSettings,
    pipeline: Pipeline,
    taker: RowTaker,
  ): Promise<StatementResult[]> {
    const decide = decisionOf(parsed);
    const streamTaker: StreamTaker = {
      onStart: (control) => taker.onStart(control),
      onRepeat: () => {
        pipeline.absent.rows = 0;
        return taker.onRepeat();
      },
    };
    if (!decide) return this.door.stream(caller, pipeline.statements, settings, streamTaker);
    return this.door.runThenDecide(
      caller,
      pipeline.statements,
      settings,
      (results) => decide(executionOf(results, pipeline).rows),
      streamTaker,
    );
  }

  /** Errors that need a word more than the database says. */
  private async explained(
    error: unknown,
    caller: Caller,
    parsed: ParsedRequest,
    settings: ContextSettings,
  ): Promise<unknown> {
    if (!(error instanceof DatabaseError)) return error;
    if (mayBeReadBack(error, parsed) && (await this.isReadBackRefused(caller, parsed, settings))) {
      return readBackRefused(error);
    }
    return (
      raisedError(error) ??
      valueRefused(error, parsed) ??
      concealed(error, caller.role, parsed) ??
      recursionOf(error, caller.role, parsed) ??
      error
    );
  }

  /** Whether the same write passes when nothing is read back: tried, and undone. */
  private async isReadBackRefused(
    caller: Caller,
    parsed: ParsedRequest,
    settings: ContextSettings,
  ): Promise<boolean> {
    try {
      const { main } = withoutRows(parsed).statements;
      await this.door.runThenDecide(caller, main, settings, () => 'rollback');
      return true;
    } catch {
      return false;
    }
  }
}

/** PostgreSQL speaks of an escape sequence or of its stack; the client knows of a value that it sent. */
function valueRefused(error: DatabaseError, { body }: ParsedRequest): AppError | null {
  if (body === null) return null;
  if (error.code === '22P05' && body.includes('\\u0000')) return textHoldsNul(error);
  return error.code === '54001' && nestsDeeply(body) ? invalidBody('The body nests too deeply', error) : null;
}

function pipelineOf(caller: Caller, parsed: ParsedRequest, taker: RowTaker): Pipeline {
  const { plan, statements, catalog, request } = parsed;
  // Executed in this order.
  const list: Statement[] = [];
  const ofRole = roleStatement(caller, parsed);
  if (ofRole) list.push(ofRole);
  const { tx, timezone } = request.preferences;
  if (timezone !== null) list.push(timezoneStatement(timezone));
  const { pre_request: preRequest } = caller.project.settings;
  if (preRequest !== null) list.push(preRequestStatement(preRequest));
  // Rows that stream leave before the statement is through, and the head before them.
  if (preRequest !== null && plan.kind === 'read' && catalog.setsResponse) {
    const onRow = ([headers, status]: (Buffer | null)[]): void =>
      taker.onResponseSettings({ headers: headers?.toString() ?? null, status: status?.toString() ?? null });
    list.push({ name: 'rest:beforehand', text: RESPONSE_SETTINGS, onRow });
  }
  if (statements.exactCount) {
    list.push({ ...statements.exactCount, onRow: ([value]) => taker.onTotal(Number(value)) });
  }
  if (statements.plannedCount) {
    const { text, values } = statements.plannedCount;
    list.push({ text, values });
  }
  const absent = { rows: 0 };
  const before = list.length;
  for (const statement of statements.main)
    list.push(mainStatement(statement, plan.representation.kind, taker, absent));
  const isUpsert = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.conflict !== null;
  if (isUpsert || catalog.setsResponse) list.push({ name: 'rest:afterwards', text: RESPONSE_SETTINGS });
  // A dry run finds what would only fail at its end.
  if (tx === 'rollback') list.push({ text: 'set constraints all immediate' });
  return {
    statements: list,
    absent,
    before,
    mains: statements.main.length,
    hasGuess: statements.plannedCount !== null,
  };
}

/** EXPLAIN can't be asked for binary values, so its rows are collected. */
function mainStatement(
  { text, values, name, row }: BoundStatement,
  kind: string,
  taker: RowTaker,
  absent: Pipeline['absent'],
): Statement {
  if (kind === 'explain') return { text, values };
  if (row) return { text, values, name, columns: printed(row, taker) };
  return {
    text,
    values,
    name,
    onRow: ([value, total]) => {
      if (total) taker.onTotal(Number(total));
      if (total && value === null) absent.rows += 1;
      else taker.onRow(value ?? null);
    },
  };
}

function handOnPlan(results: readonly StatementResult[], { before, mains }: Pipeline, taker: RowTaker): void {
  for (const { rows } of results.slice(before, before + mains)) {
    for (const row of rows as { 'QUERY PLAN': unknown }[]) {
      const line = row['QUERY PLAN'];
      taker.onRow(Buffer.from(typeof line === 'string' ? line : JSON.stringify(line)));
    }
  }
}

function preRequestStatement(setting: string): Statement {
  const dot = setting.indexOf('.');
  const routine =
    dot < 0 ? quoteIdentifier(setting) : quoteQualified(setting.slice(0, dot), setting.slice(dot + 1));
  return { name: `rest:pre:${routine}`.slice(0, 63), text: `select ${routine}()` };
}

/** The planner's guess. */
function guessOf(results: readonly StatementResult[], { before, hasGuess }: Pipeline): number | null {
  if (!hasGuess) return null;
  const row = results[before - 1]?.rows[0] as
    { 'QUERY PLAN'?: { Plan?: { 'Plan Rows'?: number } }[] } | undefined;
  return row?.['QUERY PLAN']?.[0]?.Plan?.['Plan Rows'] ?? null;
}

function executionOf(results: readonly StatementResult[], pipeline: Pipeline): Execution {
  const mains = results.slice(pipeline.before, pipeline.before + pipeline.mains);
  const after = results[pipeline.before + pipeline.mains]?.rows[0] as
    { headers: string | null; status: string | null; inserted: string | null } | undefined;
  return {
    rows: mains.reduce((sum, { rowCount }) => sum + rowCount, 0) - pipeline.absent.rows,
    guess: guessOf(results, pipeline),
    inserted: Number(after?.inserted ?? 0),
    response: { headers: after?.headers ?? null, status: after?.status ?? null },
    silent: null,
  };
}

/** Null when the outcome can be committed at once. Otherwise throws for what must be undone. */
function decisionOf({ plan, request }: ParsedRequest): ((rows: number) => 'commit' | 'rollback') | null {
  const { tx, handling, maxAffected } = request.preferences;
  // A plan has no rows to judge by.
  const changes = plan.kind !== 'read' && plan.representation.kind !== 'explain';
  const isPut = changes && request.method === 'PUT';
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
