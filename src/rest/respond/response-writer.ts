/** Writes the answer of a prepared request to an HTTP response. */
import type { Response } from 'express';
import { RowCollector } from '../../row-stream/row-collector';
import { callerOf } from '../../access/current-caller.decorator';
import type { Execution } from '../execute/execution';
import { CONSISTENCY_TOKEN } from '../execute/read-source';
import { isReadOnly } from '../execute/request-settings';
import type { PreparedRequest } from '../prepare/prepared-request';
import { notSingular } from '../rest.errors';
import {
  contentType,
  statusOf,
  writeHead,
  type Head,
  readHead,
  totalRows,
  locationHeader,
  writeHeaders,
  writeStatus,
} from './response-head';
import type { ResultBudget } from './result-budget';
import type { RepresentationPlan, RequestPlan } from '../plan/plan';
import { SCALAR } from '../compile/row-sql';
import type { BodyFormat } from '../../row-stream/row-body';

export class ResponseWriter {
  /** @param results the memory for results that are held before they are sent */
  constructor(
    private readonly response: Response,
    private readonly results: ResultBudget,
  ) {}

  /** True once the status and headers were sent to the client: the request must not run again. */
  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /** Takes the rows as they arrive. Many rows are sent on immediately. */
  begin(prepared: PreparedRequest): RowCollector {
    const { response, results } = this;
    const { plan } = prepared;
    const isRead = plan.kind === 'read';
    // Computed on demand, because Express evaluates the trusted proxies for each access.
    const address = (): string => response.req.ip ?? '';
    const rows: RowCollector = new RowCollector(response, {
      format: bodyFormat(prepared),
      begin:
        isRead && STREAMED.has(plan.representation.kind)
          ? () => writeHead(response, prepared, readHead(prepared, null, rows.total), rows.settings)
          : null,
      stopsWithClient: isRead,
      // The first row is kept for Location and for the count of HEAD. A second row of a single object is only counted.
      keepsFirst: plan.representation.kind === 'none' || plan.representation.kind === 'object',
      client: address,
      hold: () => results.open({ account: callerOf(response.req).project.id, address: address() }),
      writes: !isReadOnly(prepared),
    });
    return rows;
  }

  /** Writes the rest of the response. @throws AppError PL103, PL111, PL112 or PL116, as long as nothing was sent */
  write(prepared: PreparedRequest, collector: RowCollector, execution: Execution): void {
    if (this.hasBegun) {
      collector.finish();
      return;
    }
    const rows = rowsOf(prepared, execution, collector);
    if (prepared.plan.singular && rows !== 1) throw notSingular(rows);
    const head = headOf(prepared, execution, collector, rows);
    if (execution.token !== null) head.headers[CONSISTENCY_TOKEN] = execution.token;
    const status = statusOf(head, execution.response);
    const hasBody = prepared.plan.representation.kind !== 'none' && head.status !== 204 && status !== 204;
    const body = hasBody ? bodyOf(prepared, collector) : [];
    if (!hasBody) collector.finish();
    // RFC 9110, 8.6: a 204 has no length, and the length in a response to HEAD would have to equal that of GET.
    if (status !== 204 && (hasBody || prepared.shape.method !== 'HEAD')) {
      head.headers['Content-Length'] = String(body.reduce((sum, { length }) => sum + length, 0));
    }
    writeHead(this.response, prepared, head, execution.response);
    const last = body.pop();
    for (const block of body) this.response.write(block);
    this.response.end(last);
  }
}

/** Other representations have a single row, or SQL may set headers while their value is computed. */
const STREAMED: ReadonlySet<string> = new Set(['rows', 'ndjson', 'csv', 'geojson']);

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
  // The lines of EXPLAIN are not rows, and nothing was written.
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

function bodyOf({ plan }: PreparedRequest, collector: RowCollector): Buffer[] {
  const blocks = collector.finish() ?? [];
  if (plan.representation.kind === 'handler' && plan.representation.handler.isBinary) {
    return decoded(blocks);
  }
  return blocks;
}

/** Decodes base64 and frees it block by block. PostgreSQL's line breaks are not part of the groups of four characters. */
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

const LIST = format('[', ',', ']');
const PLAIN = format('', '', '');
const LINES: BodyFormat = { ...format('', '\n', '\n'), isLine: true };

function format(head: string, separator: string, tail: string): BodyFormat {
  return {
    head: Buffer.from(head),
    separator: Buffer.from(separator),
    tail: Buffer.from(tail),
    isLine: false,
  };
}

function bodyFormat({ plan }: PreparedRequest): BodyFormat {
  if (plan.kind === 'call' && !plan.call.routine.returnsSet && isJson(plan.representation)) return PLAIN;
  switch (plan.representation.kind) {
    case 'rows':
      return LIST;
    case 'ndjson':
    case 'explain':
      return LINES;
    case 'csv':
      return format(`${csvHeader(plan)}\n`, '\n', '');
    case 'object':
    case 'geojson':
    case 'handler':
    case 'none':
      return PLAIN;
  }
}

function isJson({ kind }: RepresentationPlan): boolean {
  return kind === 'rows' || kind === 'object';
}

function csvHeader(plan: RequestPlan): string {
  if (plan.kind === 'call' && plan.call.routine.result !== 'composite') return SCALAR;
  return plan.columns.map(csvField).join(',');
}

/** RFC 4180, 2.6. */
function csvField(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
