/** Plans requests to `/rest/v1/rpc/<function>`: the overload that fits the arguments, and the read of its result. */
import type { RequestBody } from '../body/request-body';
import { looksLikeJson } from '../body/looks-like-json';
import type { JsonStructure } from '../body/json-structure';
import { nameKey, type Routine } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { AtPath, Filter } from '../grammar/tree';
import { invalidBody, restError } from '../rest.errors';
import { columnNames, returningFor } from './returning';
import { attach, draftOf, renamedEmbeds, rowOf } from './draft';
import { negotiate } from './negotiate';
import type { ArgumentsPlan, CallRequestPlan } from './plan';
import type { PlanContext, RowType } from './plan-context';
import { planRead } from './plan-read';
import { ambiguousRoutine, routineNotFound, WHOLE_BODY_TYPES } from './routine.errors';

export interface PlannedRoutine {
  readonly plan: CallRequestPlan;
  readonly schema: string;
  readonly allowed: string[];
}

/** The arguments of the request, by name. */
interface Given {
  readonly names: readonly string[];
  /** True for texts of the query string or a form, false for members of the JSON body. */
  readonly asTexts: boolean;
  /** True for a JSON array, of which the first object is used. */
  readonly inList: boolean;
}

const NOTHING: Given = { names: [], asTexts: false, inList: false };

/**
 * @param body null for GET, HEAD and OPTIONS
 * @throws AppError PL202 and PL203 if no overload or several fit, PL102 for an invalid body, PL128
 * (assertMaxAffected), and the errors of planRead()
 */
export function planRoutine(
  context: PlanContext,
  request: RequestShape,
  body: RequestBody | null,
  options: { readonly planEnabled: boolean },
): PlannedRoutine {
  const { routine, schema, given } = findRoutine(context, request, body);
  const inSchema = { ...context, schema };
  const allowed =
    routine.volatility === 'volatile' ? ['OPTIONS', 'POST'] : ['OPTIONS', 'GET', 'HEAD', 'POST'];
  const plan = planCall(inSchema, request, routine, given, options);
  return { plan, schema, allowed };
}

function findRoutine(
  context: PlanContext,
  request: RequestShape,
  body: RequestBody | null,
): { routine: Routine; schema: string; given: Given } {
  let overloads: readonly Routine[] = [];
  for (const { schema, name } of request.target.candidates) {
    if (schema !== null && !context.exposedSchemas.includes(schema)) continue;
    const inSchema = schema ?? context.schema;
    const found = context.catalog.routines.get(nameKey({ schema: inSchema, name })) ?? [];
    const [first] = found;
    if (!first) continue;
    overloads = found;
    const given = givenBy(request, body, found);
    if (request.method === 'OPTIONS') return { routine: first, schema: inSchema, given };
    const routine = chosen(found, given, request, body !== null);
    if (routine) return { routine, schema: inSchema, given };
  }
  throw routineNotFound(
    context,
    request.target.text,
    givenBy(request, body, overloads).names,
    overloads,
    body && { contentType: request.contentType, isJson: looksLikeJson(body.bytes) },
  );
}

/**
 * The overload that fits the arguments; else the overload that takes the whole body.
 * @throws AppError PL203 if several overloads fit
 */
function chosen(
  overloads: readonly Routine[],
  given: Given,
  { contentType }: RequestShape,
  hasBody: boolean,
): Routine | null {
  const isRaw = hasBody && WHOLE_BODY_TYPES[contentType.kind] !== undefined;
  const fitting = overloads.filter((routine) => fits(routine, given, isRaw));
  if (fitting.length > 1) throw ambiguousRoutine(fitting);
  if (fitting[0]) return fitting[0];
  const takingBody = hasBody ? overloads.filter((routine) => takesBody(routine, contentType.kind)) : [];
  if (takingBody.length > 1) throw ambiguousRoutine(takingBody);
  return takingBody[0] ?? null;
}

/**
 * True when all required arguments are given, and only declared arguments. The key "" of a JSON body is the argument
 * without a name.
 * Example: `/rpc/shout` with `{"": "text"}`
 */
function fits({ arguments: declared }: Routine, { names, asTexts }: Given, isRaw: boolean): boolean {
  if (isRaw && declared.length === 0) return false;
  const given = new Set(names);
  if (asTexts && given.has('')) return false;
  return (
    declared.every(({ name, required }) => !required || given.has(name)) &&
    names.every((name) => declared.some((argument) => argument.name === name))
  );
}

function takesBody({ arguments: declared }: Routine, contentType: string): boolean {
  const [argument] = declared;
  if (declared.length !== 1 || !argument || argument.name !== '') return false;
  if (contentType === 'json') return argument.type === 'json' || argument.type === 'jsonb';
  return argument.type === WHOLE_BODY_TYPES[contentType];
}

function givenBy(request: RequestShape, body: RequestBody | null, overloads: readonly Routine[]): Given {
  if (body === null) return fromQuery(request);
  if (body.fields) return textsNamed(body.fields.map(([name]) => name));
  if (!body.structure) return NOTHING;
  const given = membersOf(body.structure, overloads);
  return request.query.columns ? { ...given, names: request.query.columns } : given;
}

/**
 * GET: a parameter in the form of a filter is a filter, even if an argument has its name.
 * Example: `/rpc/below?id=5&id=gt.2`
 */
function fromQuery({ query }: RequestShape): Given {
  const taken = query.callParameters.filter(({ filter }) => filter === null);
  return textsNamed(taken.map(({ name }) => name));
}

function textsNamed(names: readonly string[]): Given {
  return { names: [...new Set(names)], asTexts: true, inList: false };
}

function membersOf({ kind, rows }: JsonStructure, overloads: readonly Routine[]): Given {
  if (kind === 'object' || kind === 'list') {
    return { ...NOTHING, names: rows.shapes[0] ?? [], inList: kind === 'list' };
  }
  // Any other JSON value can only be the one unnamed argument.
  if (overloads.some((routine) => takesBody(routine, 'json'))) return NOTHING;
  throw invalidBody('The body must be a JSON object of arguments');
}

function planCall(
  context: PlanContext,
  request: RequestShape,
  routine: Routine,
  given: Given,
  { planEnabled }: { readonly planEnabled: boolean },
): CallRequestPlan {
  const { preferences, query, accept, method } = request;
  assertMaxAffected(request, routine);
  const row: RowType = routine.relation
    ? rowOf(context, routine.relation)
    : { name: routine.name, columns: routine.columns, computed: new Map() };
  const root = draftOf(context, row, routine.relation, query.select);
  attach(root, { ...query, filters: filtersOf(request) }, { rootFilters: true, rootWindow: request.window });
  const read = planRead(context, root, { kind: 'result' });
  const { contentType, representation } = negotiate(accept, {
    handlers: context.catalog.mediaHandlers,
    rowsOf: routine.result === 'scalar' ? routine : (routine.relation ?? routine),
    isWholeRow: query.select.length === 1 && query.select[0]?.kind === 'star',
    planEnabled,
  });
  return {
    kind: 'call',
    read,
    columns:
      routine.result === 'composite' ? columnNames(context.catalog, read, [...row.columns.keys()]) : [],
    renamed: renamedEmbeds(root),
    count: preferences.count,
    countLimit: context.maxRows,
    contentType,
    singular: representation.kind === 'object',
    representation: method === 'HEAD' ? { kind: 'none' } : representation,
    call: { routine, returning: returningWithFilters(read), arguments: argumentsOf(routine, given) },
  };
}

/** @throws AppError PL128 for `max-affected` with a function that does not return a set */
function assertMaxAffected({ preferences }: RequestShape, routine: Routine): void {
  if (preferences.maxAffected === null || preferences.handling !== 'strict' || routine.returnsSet) return;
  throw restError('PL128', {
    message: 'Function must return SETOF or TABLE when max-affected preference is used with handling=strict',
  });
}

/** Parameters that are not arguments filter the result. */
function filtersOf({ query }: RequestShape): readonly AtPath<Filter>[] {
  return [...query.filters, ...query.callParameters.flatMap(({ filter }) => (filter ? [filter] : []))];
}

/** The rows are filtered after the function has returned them, so filters may need any column. */
function returningWithFilters(read: CallRequestPlan['read']): CallRequestPlan['call']['returning'] {
  return read.where.length > 0 ? { kind: 'all' } : returningFor(read);
}

function argumentsOf({ arguments: declared }: Routine, { names, asTexts, inList }: Given): ArgumentsPlan {
  const isUnnamed = declared.length === 1 && declared[0]?.name === '';
  // Without a body the argument takes its default.
  if (isUnnamed) return asTexts ? { kind: 'texts', given: [] } : { kind: 'body' };
  const given = declared.filter(({ name }) => names.includes(name));
  return asTexts ? { kind: 'texts', given } : { kind: 'members', given, inList };
}
