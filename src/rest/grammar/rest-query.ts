/** The whole query string: each parameter goes to the rule of its name. */
import { Budget } from './budget';
import { parseColumns } from './columns';
import { embedPath, fieldPath, logicPath, pathKey } from './embed-path';
import { parseFilter } from './filter';
import { GrammarError } from './grammar-error';
import { parseLogicTree } from './logic-tree';
import { EMBEDDABLE_PARAMETERS, LOGIC_OPERATORS, TOP_LEVEL_PARAMETERS } from './operators';
import { parseOrder } from './order';
import { splitQueryString } from './query-string';
import { parseSelect } from './select';
import type {
  AtPath,
  CallParameter,
  Filter,
  LogicGroup,
  OrderTerm,
  Parameter,
  RestQuery,
  SelectItem,
  Window,
} from './tree';
import { parseLimit, parseOffset, WHOLE } from './window';

const STAR: readonly SelectItem[] = [{ kind: 'star' }];
/** Spares an argument that is plainly none the cost of an error: `not.`? operator, then `.` or `(`. */
const MAY_BE_OPERATION = /^(?:not\.)?[a-z]{2,10}[.(]/;

export interface RestQueryOptions {
  /** A function called with GET or HEAD, whose arguments are parameters of the query string. */
  readonly hasArguments: boolean;
}

/**
 * Parses a raw query string, with or without its `?`.
 * Example: `/projects?select=id,clients(name)&id=gt.1&clients.name=like.A*&order=id.desc&limit=5`
 * @throws GrammarError PL100, PL103, PL150 to PL153
 */
export function parseRestQuery(queryString: string, options: RestQueryOptions): RestQuery {
  const budget = new Budget();
  const parameters = splitQueryString(queryString, budget);
  const named = (name: string) => parameters.find((parameter) => parameter.name === name)?.value ?? null;
  const order = orders(parameters, budget);
  const logic = logics(parameters, budget);
  const columns = named('columns');
  const select = named('select');
  const onConflict = named('on_conflict');
  const others = parameters.filter(({ name }) => reservedWord(name) === null);
  return {
    order,
    logic,
    columns: columns === null ? null : parseColumns('columns', columns, budget),
    select: select === null ? STAR : parseSelect(select, budget),
    selectGiven: select !== null,
    filters: options.hasArguments ? [] : others.map(({ name, value }) => parseFilter(name, value, budget)),
    callParameters: options.hasArguments ? others.map((each) => callParameter(each, budget)) : [],
    onConflict: onConflict === null ? null : parseColumns('on_conflict', onConflict, budget),
    windows: windows(parameters),
    parameters,
  };
}

/** What makes a parameter more than a filter: its name, or the last part of it. A quoted column is never reserved. */
function reservedWord(name: string): string | null {
  if (TOP_LEVEL_PARAMETERS.has(name)) return name;
  const last = name.slice(name.lastIndexOf('.') + 1);
  return EMBEDDABLE_PARAMETERS.has(last) ? last : null;
}

function orders(parameters: readonly Parameter[], budget: Budget): readonly AtPath<readonly OrderTerm[]>[] {
  const byLevel = new Map<string, AtPath<readonly OrderTerm[]>>();
  for (const { name, value } of parameters) {
    if (reservedWord(name) !== 'order') continue;
    const path = embedPath(name);
    const node = parseOrder(value, budget);
    const key = pathKey(path);
    if (!byLevel.has(key)) byLevel.set(key, { path, node });
  }
  return [...byLevel.values()];
}

function logics(parameters: readonly Parameter[], budget: Budget): readonly AtPath<LogicGroup>[] {
  const groups: AtPath<LogicGroup>[] = [];
  for (const { name, value } of parameters) {
    const operator = reservedWord(name);
    if (operator === null || !LOGIC_OPERATORS.has(operator)) continue;
    const { path, negated } = logicPath(name);
    groups.push({ path, node: parseLogicTree({ operator, negated }, value, budget) });
  }
  return groups;
}

function windows(parameters: readonly Parameter[]): readonly AtPath<Window>[] {
  const byLevel = new Map<string, AtPath<Window>>();
  for (const { name, value } of parameters) {
    const word = reservedWord(name);
    if (word !== 'limit' && word !== 'offset') continue;
    const path = embedPath(name);
    const key = pathKey(path);
    const before = byLevel.get(key)?.node ?? WHOLE;
    const change = word === 'limit' ? { limit: parseLimit(value) } : { offset: parseOffset(value) };
    byLevel.set(key, { path, node: { ...before, ...change } });
  }
  return [...byLevel.values()];
}

/** Example: `/rpc/getitemrange?min=2&max=4` has two arguments, `/rpc/getallprojects?id=in.(1,2,3)` a filter. */
function callParameter({ name, value }: Parameter, budget: Budget): CallParameter {
  const { node: field } = fieldPath(name);
  return { name: field.name, value, filter: filterOrNull(name, value, budget) };
}

function filterOrNull(name: string, value: string, budget: Budget): AtPath<Filter> | null {
  if (!MAY_BE_OPERATION.test(value)) return null;
  try {
    return parseFilter(name, value, budget);
  } catch (error) {
    if (error instanceof GrammarError && error.code === 'PL100') return null;
    throw error;
  }
}
