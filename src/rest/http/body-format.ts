/** How the rows of a representation are put together. */
import { nameKey } from '../catalog/catalog';
import { columnNames } from '../plan/column-names';
import type { RepresentationPlan } from '../plan/plan';
import type { ParsedRequest } from '../query-parser.service';
import { SCALAR } from '../compile/compile-call';
import type { BodyFormat } from './row-collector';

const LIST = format('[', ',', ']');
const PLAIN = format('', '', '');
const LINES = format('', '\n', '\n');

function format(head: string, separator: string, tail: string): BodyFormat {
  return { head: Buffer.from(head), separator: Buffer.from(separator), tail: Buffer.from(tail) };
}

export function bodyFormat(parsed: ParsedRequest): BodyFormat {
  const { plan } = parsed;
  if (plan.kind === 'call' && !plan.call.routine.returnsSet && isJson(plan.representation)) return PLAIN;
  switch (plan.representation.kind) {
    case 'rows':
      return LIST;
    case 'ndjson':
    case 'explain':
      return LINES;
    case 'csv':
      return format(`${csvHeader(parsed)}\n`, '\n', '');
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

function csvHeader({ plan, catalog }: ParsedRequest): string {
  if (plan.kind === 'call' && plan.call.routine.result !== 'composite') return SCALAR;
  return columnNames(catalog, plan.read, resultColumns({ plan, catalog })).map(csvField).join(',');
}

function resultColumns({ plan, catalog }: Pick<ParsedRequest, 'plan' | 'catalog'>): string[] {
  if (plan.kind !== 'call') return [...plan.relation.columns.keys()];
  const { relation, columns } = plan.call.routine;
  const known = relation ? catalog.relations.get(nameKey(relation))?.columns : columns;
  return [...(known?.keys() ?? [])];
}

/** RFC 4180, 2.6. */
function csvField(name: string): string {
  return /[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
}
