/** Executes a parsed request and writes its answer. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../../access/caller';
import { type Execution, type ResponseSettings, RestExecutor } from '../execute/rest-executor.service';
import type { RequestFacts } from '../execute/request-settings';
import type { RequestPlan } from '../plan/plan';
import type { ParsedRequest } from '../query-parser.service';
import { notSingular } from '../rest.errors';
import {
  type AnswerHeaders,
  appliedPreferences,
  contentType,
  location,
  overriddenHeaders,
  overriddenStatus,
  readHead,
  VARY,
  writeHeaders,
  writeStatus,
} from './answer';
import { bodyFormat } from './body-format';
import { inAscii } from './header-text';
import { renamedWarning } from './renamed-warning';
import { RowCollector } from '../../row-stream/row-collector';

@Injectable()
export class RestResponder {
  constructor(private readonly executor: RestExecutor) {}

  /** @throws AppError or the driver's error, as long as nothing was written */
  async respond(
    caller: Caller,
    parsed: ParsedRequest,
    facts: RequestFacts,
    response: Response,
  ): Promise<void> {
    const streams = parsed.plan.kind === 'read' && isStreamable(parsed);
    const collector: RowCollector = new RowCollector(response, {
      format: bodyFormat(parsed),
      begin: streams ? () => begin(parsed, collector, response) : null,
      stopsWithClient: parsed.plan.kind === 'read',
      // Location and the count of HEAD are read from it.
      keepsFirst: parsed.plan.representation.kind === 'none',
      client: () => response.req.ip ?? '',
    });
    let execution: Execution;
    try {
      execution = await this.executor.execute(caller, parsed, facts, collector);
    } catch (error) {
      collector.fail();
      throw error;
    }
    write(execution.silent ?? parsed, execution, collector, response);
  }
}

function isStreamable({ plan }: ParsedRequest): boolean {
  return ['rows', 'ndjson', 'csv'].includes(plan.representation.kind);
}

/** An answer whose length nobody knows yet. */
function begin(parsed: ParsedRequest, collector: RowCollector, response: Response): void {
  writeHead(response, parsed, readHead(parsed, null, collector.total), collector.settings);
}

interface Head {
  readonly status: number;
  /** Made for this answer; added to until it is written. */
  readonly headers: AnswerHeaders;
}

/** What SQL set comes before what Plinth would say. */
function statusOf({ status }: Head, settings: ResponseSettings): number {
  return overriddenStatus(settings.status) ?? status;
}

/** The same for the headers. */
function writeHead(response: Response, parsed: ParsedRequest, head: Head, settings: ResponseSettings): void {
  const { headers } = head;
  headers.Vary = VARY.Vary;
  const applied = appliedPreferences(parsed);
  if (applied.length > 0) headers['Preference-Applied'] = applied.join(', ');
  if (parsed.profile !== null) headers['Content-Profile'] = inAscii(parsed.profile);
  if (parsed.plan.renamed.length > 0) headers.Warning = renamedWarning(parsed.plan.renamed);
  const overriding = overriddenHeaders(settings.headers);
  response.writeHead(
    statusOf(head, settings),
    overriding === null ? headers : { ...without(headers, overriding), ...overriding },
  );
}

function write(
  parsed: ParsedRequest,
  execution: Execution,
  collector: RowCollector,
  response: Response,
): void {
  if (response.headersSent) {
    collector.finish();
    return;
  }
  const { plan } = parsed;
  const isHead = plan.representation.kind === 'none';
  const rows = isHead && plan.kind !== 'write' ? Number(collector.first ?? 0) : execution.rows;
  if (plan.singular && rows !== 1) throw notSingular(rows);
  const head = headOf(parsed, execution, collector, rows);
  const status = statusOf(head, execution.response);
  const body = hasBody(parsed, head.status) && status !== 204 ? bodyOf(parsed, collector) : null;
  if (body === null) collector.finish();
  // RFC 9110, 8.6: a 204 has no length, and HEAD would have to tell GET's.
  const hasLength = status !== 204 && (body !== null || parsed.request.method !== 'HEAD');
  if (hasLength) head.headers['Content-Length'] = String(lengthOf(body ?? []));
  writeHead(response, parsed, head, execution.response);
  const last = body?.pop();
  for (const block of body ?? []) response.write(block);
  response.end(last);
}

function headOf(parsed: ParsedRequest, execution: Execution, collector: RowCollector, rows: number): Head {
  const { plan } = parsed;
  // Its lines are no rows, and nothing was written.
  if (plan.representation.kind === 'explain')
    return { status: 200, headers: { 'Content-Type': contentType(plan) } };
  if (plan.kind === 'write') {
    const headers = {
      ...writeHeaders(parsed, rows),
      ...location(parsed, collector.first?.toString(), rows),
    };
    if (plan.representation.kind !== 'none') headers['Content-Type'] = contentType(plan);
    return { status: writeStatus(parsed, execution), headers };
  }
  if (plan.kind === 'call' && plan.call.routine.result === 'void') {
    return { status: 204, headers: { 'Content-Range': '*/*' } };
  }
  return readHead(parsed, rows, totalOf(parsed, execution, collector, rows));
}

/** How many rows there are in all, as far as the client asked; without a window those of the answer. */
function totalOf(
  { plan }: ParsedRequest,
  { guess }: Execution,
  { total }: RowCollector,
  rows: number,
): number | null {
  const { count, countLimit, read } = plan;
  if (count === null) return null;
  // A function that returns no set gives one value, which no window cuts.
  const isWhole = isSingleValue(plan) || (read.limit === null && read.offset === 0);
  const exact = total ?? (isWhole ? rows : null);
  if (count === 'planned') return guess ?? exact;
  if (count === 'estimated' && guess !== null && exact !== null && exact > (countLimit ?? Infinity)) {
    return Math.max(guess, exact);
  }
  return exact ?? guess;
}

function isSingleValue(plan: RequestPlan): boolean {
  return plan.kind === 'call' && !plan.call.routine.returnsSet;
}

function hasBody({ plan }: ParsedRequest, status: number): boolean {
  return plan.representation.kind !== 'none' && status !== 204;
}

function bodyOf({ plan }: ParsedRequest, collector: RowCollector): Buffer[] {
  const blocks = collector.finish() ?? [];
  if (plan.representation.kind === 'handler' && plan.representation.handler.isBinary) {
    return [Buffer.from(Buffer.concat(blocks).toString('latin1'), 'base64')];
  }
  return blocks;
}

function lengthOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0);
}

function without(headers: AnswerHeaders, others: AnswerHeaders): AnswerHeaders {
  const taken = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !taken.has(name.toLowerCase())));
}
