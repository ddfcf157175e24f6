/** How the rows of a representation are put together. */
import type { RepresentationPlan, RequestPlan } from '../plan/plan';
import type { PreparedRequest } from '../prepare/prepared-request';
import { SCALAR } from '../compile/compile-call';
import type { BodyFormat } from '../../row-stream/row-body';

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

export function bodyFormat({ plan }: PreparedRequest): BodyFormat {
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
