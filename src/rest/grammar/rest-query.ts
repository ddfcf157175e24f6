/** The whole query string: each parameter is parsed by the rule for its name. */
import { Budget } from './budget';
import { parseColumns } from './names';
import { embedPath, fieldPath, logicPath, pathKey } from './field';
import { parseFilter } from './operation';
import { GrammarError } from './grammar-error';
import { parseLogicTree } from './logic-tree';
import { EMBEDDABLE_PARAMETERS, TOP_LEVEL_PARAMETERS } from './operators';
import { parseOrder } from './order';
import { splitQueryString } from './query-string';
import { type QueryParameter, QueryParts, type QueryValues } from './query-values';
import { parseSelect } from './select';
import type {
  AtPath,
  CallParameter,
  Filter,
  LogicGroup,
  OrderTerm,
  RestQuery,
  SelectItem,
  Window,
} from './tree';
import { parseLimit, parseOffset, WHOLE } from './window';

const STAR: readonly SelectItem[] = [{ kind: 'star' }];
/** Avoids the cost of an exception for an argument that cannot be a filter: `not.`? operator, then `.` or `(`. */
const MAY_BE_OPERATION = /^(?:not\.)?[a-z]{2,10}[.(]/;

/** A parsed query string: its shape, and its values separately. */
export interface ParsedQuery {
  readonly shape: RestQuery;
  readonly values: QueryValues;
}

export interface RestQueryOptions {
  /** True for a function called with GET or HEAD, whose arguments are parameters of the query string. */
  readonly hasArguments: boolean;
}

/** The parameters, grouped by the rule that parses them. */
interface Sorted {
  readonly select: QueryParameter[];
  readonly columns: QueryParameter[];
  readonly on_conflict: QueryParameter[];
  readonly order: QueryParameter[];
  readonly window: QueryParameter[];
  readonly logic: QueryParameter[];
  readonly filter: QueryParameter[];
}

/**
 * Parses a raw query string, with or without its `?`.
 * Example: `/projects?select=id,clients(name)&id=gt.1&clients.name=like.A*&order=id.desc&limit=5`
 * @throws GrammarError PL100, PL103, PL150 to PL153
 */
export function parseRestQuery(queryString: string, { hasArguments }: RestQueryOptions): ParsedQuery {
  const budget = new Budget();
  const parameters = splitQueryString(queryString, budget);
  const sorted = sort(parameters);
  const parts = new QueryParts();
  const [select] = sorted.select;
  const shape: RestQuery = {
    order: orders(sorted.order, budget),
    logic: sorted.logic.map((each) => logicGroup(each, budget, parts)),
    columns: columns('columns', sorted.columns[0], budget),
    select: select?.value ? parseSelect(select.value, budget) : STAR,
    selectGiven: select !== undefined,
    filters: hasArguments
      ? []
      : sorted.filter.map(({ name, value }) => parseFilter(name, value, budget, parts)),
    callParameters: hasArguments ? sorted.filter.map((each) => callParameter(each, budget, parts)) : [],
    onConflict: columns('on_conflict', sorted.on_conflict[0], budget),
    windows: windows(sorted.window),
    // Added last: filters and groups add to it while they are parsed.
    text: shapeText(parts, sorted),
  };
  return { shape, values: parts.values(parameters) };
}

function sort(parameters: readonly QueryParameter[]): Sorted {
  const sorted: Sorted = {
    select: [],
    columns: [],
    on_conflict: [],
    order: [],
    window: [],
    logic: [],
    filter: [],
  };
  for (const parameter of parameters) sorted[ruleOf(parameter.name)].push(parameter);
  return sorted;
}

/** The rule for a parameter: its name or the last part of its name decides. A quoted name is always a column. */
function ruleOf(name: string): keyof Sorted {
  if (TOP_LEVEL_PARAMETERS.has(name)) return name;
  const word = lastPart(name);
  if (!EMBEDDABLE_PARAMETERS.has(word)) return 'filter';
  switch (word) {
    case 'order':
      return 'order';
    case 'limit':
    case 'offset':
      return 'window';
    case 'and':
    case 'or':
      return 'logic';
  }
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function orders(
  parameters: readonly QueryParameter[],
  budget: Budget,
): readonly AtPath<readonly OrderTerm[]>[] {
  const byLevel = new Map<string, AtPath<readonly OrderTerm[]>>();
  for (const { name, value } of parameters) {
    const path = embedPath(name);
    const node = parseOrder(value, budget);
    const key = pathKey(path);
    if (!byLevel.has(key)) byLevel.set(key, { path, node });
  }
  return [...byLevel.values()];
}

function logicGroup({ name, value }: QueryParameter, budget: Budget, parts: QueryParts): AtPath<LogicGroup> {
  parts.add(name);
  const { path, negated } = logicPath(name);
  const operator = lastPart(name) === 'and' ? 'and' : 'or';
  return { path, node: parseLogicTree({ operator, negated }, value, budget, parts) };
}

function columns(
  parameter: 'columns' | 'on_conflict',
  given: QueryParameter | undefined,
  budget: Budget,
): readonly string[] | null {
  return given ? parseColumns(parameter, given.value, budget) : null;
}

function windows(parameters: readonly QueryParameter[]): readonly AtPath<Window>[] {
  const byLevel = new Map<string, AtPath<Window>>();
  for (const { name, value } of parameters) {
    const path = embedPath(name);
    const key = pathKey(path);
    const before = byLevel.get(key)?.node ?? WHOLE;
    const isLimit = lastPart(name) === 'limit';
    const change = isLimit ? { limit: parseLimit(value) } : { offset: parseOffset(value) };
    byLevel.set(key, { path, node: { ...before, ...change } });
  }
  return [...byLevel.values()];
}

/** Example: `/rpc/getitemrange?min=2&max=4` has two arguments, `/rpc/getallprojects?id=in.(1,2,3)` a filter. */
function callParameter(parameter: QueryParameter, budget: Budget, parts: QueryParts): CallParameter {
  const { name } = fieldPath(parameter.name).node;
  const found = filterOrNull(parameter, budget, parts);
  if (found === null) parts.takeArgument(name, parameter.value);
  return { name, filter: found };
}

function filterOrNull(
  { name, value }: QueryParameter,
  budget: Budget,
  parts: QueryParts,
): AtPath<Filter> | null {
  if (!MAY_BE_OPERATION.test(value)) return null;
  try {
    return parts.attempt(() => parseFilter(name, value, budget, parts));
  } catch (error) {
    if (error instanceof GrammarError && error.code === 'PL100') return null;
    throw error;
  }
}

/** Adds the texts of all other parameters to the shape; filters and groups are part of it already. */
function shapeText(parts: QueryParts, sorted: Sorted): string {
  for (const rule of WITHOUT_VALUES) {
    for (const { name, value } of sorted[rule]) {
      parts.add(name);
      parts.add(value);
    }
  }
  return parts.shapeText();
}

const WITHOUT_VALUES = ['select', 'columns', 'on_conflict', 'order', 'window'] as const;
