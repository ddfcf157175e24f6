/** Writes the answer of a prepared request to an HTTP response. */
import type { Response } from 'express';
import { RowCollector } from '../../row-stream/row-collector';
import { callerOf } from '../../access/current-caller.decorator';
import type { Execution, ResponseSettings } from '../execute/execution';
import { CONSISTENCY_TOKEN } from '../execute/read-source';
import { isReadOnly } from '../execute/request-settings';
import type { PreparedRequest } from '../prepare/prepared-request';
import type { Answer, ResponseWriter } from '../response-writer';
import { notSingular } from '../rest.errors';
import { bodyFormat } from './body-format';
import { contentType } from './content-type';
import { statusOf, writeHead, type Head } from './head';
import { readHead } from './read-head';
import type { ResultBudget } from './result-budget';
import { totalRows } from './total-rows';
import { locationHeader, writeHeaders, writeStatus } from './write-head';

export class HttpResponseWriter implements ResponseWriter {
  /** @param results the memory of results that are held */
  constructor(
    private readonly response: Response,
    private readonly results: ResultBudget,
  ) {}

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  open(prepared: PreparedRequest): Answer {
    const collector = collectorOf(prepared, this.response, this.results);
    return {
      rows: collector,
      write: (execution) => write(prepared, execution, collector, this.response),
      discard: () => collector.fail(),
    };
  }

  writeMethods(methods: readonly string[]): void {
    this.response.writeHead(200, { Allow: methods.join(','), 'Content-Length': 0 }).end();
  }
}

/** The others may set headers in SQL while they make their value, or are one row. */
const STREAMED: ReadonlySet<string> = new Set(['rows', 'ndjson', 'csv', 'geojson']);

function collectorOf(prepared: PreparedRequest, response: Response, results: ResultBudget): RowCollector {
  const { plan } = prepared;
  const isRead = plan.kind === 'read';
  const collector: RowCollector = new RowCollector(response, {
    format: bodyFormat(prepared),
    begin:
      isRead && STREAMED.has(plan.representation.kind)
        ? () => writeHead(response, prepared, readHead(prepared, null, collector.total), collector.settings)
        : null,
    stopsWithClient: isRead,
    // Location and the count of HEAD are read from it. A second row of a single object is only counted.
    keepsFirst: plan.representation.kind === 'none' || plan.representation.kind === 'object',
    client: () => addressOf(response),
    hold: () => results.open({ account: callerOf(response.req).project.id, address: addressOf(response) }),
    writes: !isReadOnly(prepared),
  });
  return collector;
}

function addressOf({ req }: Response): string {
  return req.ip ?? '';
}

function write(
  prepared: PreparedRequest,
  execution: Execution,
  collector: RowCollector,
  response: Response,
): void {
  if (response.headersSent) {
    collector.finish();
    return;
  }
  const rows = rowsOf(prepared, execution, collector);
  if (prepared.plan.singular && rows !== 1) throw notSingular(rows);
  const head = headOf(prepared, execution, collector, rows);
  if (execution.token !== null) head.headers[CONSISTENCY_TOKEN] = execution.token;
  const status = statusOf(head, execution.response);
  const body = hasBody(prepared, head.status) && status !== 204 ? bodyOf(prepared, collector) : null;
  if (body === null) collector.finish();
  // RFC 9110, 8.6: a 204 has no length, and the one of HEAD would have to be GET's.
  const hasLength = status !== 204 && (body !== null || prepared.shape.method !== 'HEAD');
  if (hasLength) head.headers['Content-Length'] = String(lengthOf(body ?? []));
  writeWhole(response, prepared, head, execution.response, body ?? []);
}

function writeWhole(
  response: Response,
  prepared: PreparedRequest,
  head: Head,
  settings: ResponseSettings,
  body: Buffer[],
): void {
  writeHead(response, prepared, head, settings);
  const last = body.pop();
  for (const block of body) response.write(block);
  response.end(last);
}

/** HEAD only counts its rows, in the database. */
function rowsOf({ plan }: PreparedRequest, execution: Execution, collector: RowCollector): number {
  const isCounted = plan.representation.kind === 'none' && plan.kind !== 'write';
  return isCounted ? Number(collector.first ?? 0) : execution.rows;
}

function headOf(
  prepared: PreparedRequest,
  execution: Execution,
  collector: RowCollector,
  rows: number,
): Head {
  const { plan } = prepared;
  // The lines of EXPLAIN are no rows, and nothing was written.
  if (plan.representation.kind === 'explain') {
    return { status: 200, headers: { 'Content-Type': contentType(plan) } };
  }
  if (plan.kind === 'write') {
    const headers = {
      ...writeHeaders(prepared, rows),
      ...locationHeader(prepared, () => collector.first, rows),
    };
    if (plan.representation.kind !== 'none') headers['Content-Type'] = contentType(plan);
    return { status: writeStatus(prepared, execution), headers };
  }
  if (plan.kind === 'call' && plan.call.routine.result === 'void') {
    return { status: 204, headers: { 'Content-Range': '*/*' } };
  }
  const { estimate } = execution;
  return readHead(prepared, rows, totalRows(plan, { rows, counted: collector.total, estimate }));
}

function hasBody({ plan }: PreparedRequest, status: number): boolean {
  return plan.representation.kind !== 'none' && status !== 204;
}

function bodyOf({ plan }: PreparedRequest, collector: RowCollector): Buffer[] {
  const blocks = collector.finish() ?? [];
  if (plan.representation.kind === 'handler' && plan.representation.handler.isBinary) {
    return decoded(blocks);
  }
  return blocks;
}

/** Decodes base64 and lets go of it block by block. The line breaks that PostgreSQL puts into it are no part of a group of four. */
function decoded(blocks: Buffer[]): Buffer[] {
  const bytes: Buffer[] = [];
  let rest = '';
  for (let block = blocks.shift(); block; block = blocks.shift()) {
    const text = rest + block.toString('latin1').replaceAll('\n', '');
    const whole = text.length - (text.length % 4);
    bytes.push(Buffer.from(text.slice(0, whole), 'base64'));
    rest = text.slice(whole);
  }
  return bytes;
}

function lengthOf(blocks: readonly Buffer[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0);
}
