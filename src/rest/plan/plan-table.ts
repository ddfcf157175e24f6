/** Plans requests to `/rest/v1/<table>`: reads and writes. */
import type { Payload } from '../body/payload';
import type { Relation } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import { columnNames, columnField, returningFor } from './returning';
import { attach, draftOf, renamedEmbeds } from './draft';
import { negotiate, type Negotiated } from './negotiate';
import type {
  ReadRequestPlan,
  RepresentationPlan,
  ReturningPlan,
  WriteRequestPlan,
  WrittenRows,
} from './plan';
import type { PlanContext } from './plan-context';
import { planRead } from './plan-read';
import { planWrite } from './plan-write';
import { restError } from '../rest.errors';

export interface TableOptions {
  readonly planEnabled: boolean;
}

const NONE: RepresentationPlan = { kind: 'none' };

/** GET and HEAD. @throws AppError the errors of planRead(), and PL107 if the client accepts no type that Plinth can produce */
export function planTableRead(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  options: TableOptions,
): ReadRequestPlan {
  const root = draftOf(context, relation, relation, request.query.select);
  attach(root, request.query, { rootFilters: true, rootWindow: request.window });
  const negotiated = representationFor(context, relation, request, options);
  const read = planRead(context, root, { kind: 'relation', relation });
  return {
    kind: 'read',
    relation,
    read,
    columns: columnNames(context.catalog, read, [...relation.columns.keys()]),
    renamed: renamedEmbeds(root),
    count: request.preferences.count,
    countLimit: context.maxRows,
    contentType: negotiated.contentType,
    singular: negotiated.representation.kind === 'object',
    representation: request.method === 'HEAD' ? NONE : negotiated.representation,
  };
}

function representationFor(
  { catalog }: PlanContext,
  relation: Relation,
  { accept, query }: RequestShape,
  { planEnabled }: TableOptions,
): Negotiated {
  const isWholeRow = query.select.length === 1 && query.select[0]?.kind === 'star';
  return negotiate(accept, { handlers: catalog.mediaHandlers, rowsOf: relation, isWholeRow, planEnabled });
}

/**
 * POST, PATCH, PUT and DELETE.
 * @param payload null for DELETE
 * @throws AppError PL105, PL155, PL156, PL204, and as planRead()
 */
export function planTableWrite(
  context: PlanContext,
  relation: Relation,
  request: RequestShape,
  payload: Payload | null,
  options: TableOptions,
): WriteRequestPlan {
  const root = draftOf(context, relation, relation, request.query.select);
  attach(root, request.query, { rootFilters: false, rootWindow: null });
  // All written rows are returned: max_rows limits reads only.
  const read = planRead({ ...context, maxRows: null }, root, { kind: 'result' });
  const { contentType, representation } = representationFor(context, relation, request, options);
  const rows = writtenRows(context, relation, request, representation);
  const returns = rows === 'withheld' ? 'minimal' : (request.preferences.return ?? 'representation');
  const returning =
    returns === 'representation' ? returningFor(read) : headersOnly(relation, returns === 'headers-only');
  const write = planWrite(context, relation, request, payload, returning);
  return {
    kind: 'write',
    relation,
    read,
    columns: columnNames(context.catalog, read, [...relation.columns.keys()]),
    renamed: renamedEmbeds(root),
    write,
    rows,
    count: request.preferences.count,
    countLimit: context.maxRows,
    contentType,
    singular: representation.kind === 'object',
    representation: returns === 'representation' ? representation : NONE,
  };
}

/** `return=headers-only` needs the primary key, for Location. */
function headersOnly({ primaryKey }: Relation, wanted: boolean): ReturningPlan {
  if (!wanted || primaryKey.length === 0) return { kind: 'nothing' };
  return { kind: 'fields', fields: primaryKey.map(columnField) };
}

/** A write whose rows were not requested succeeds even if the caller may not read them. */
function writtenRows(
  { role }: PlanContext,
  { hiddenFrom, closedTo }: Relation,
  { method, preferences, query }: RequestShape,
  { kind }: RepresentationPlan,
): WrittenRows {
  if (preferences.return !== null || query.selectGiven || kind === 'object' || kind === 'explain')
    return 'requested';
  const isPlainInsert = method === 'POST' && preferences.resolution === null;
  return hiddenFrom.has(role) || (isPlainInsert && closedTo.has(role)) ? 'withheld' : 'unrequested';
}

/** @throws AppError PL122 for unknown preferences with handling=strict */
export function assertPreferences({ preferences }: RequestShape): void {
  if (preferences.handling !== 'strict' || preferences.unknown.length === 0) return;
  throw restError('PL122', {
    message: 'Invalid preferences given with handling=strict',
    detail: `Invalid preferences: ${preferences.unknown.join(', ')}`,
  });
}
