/**
 * Filters of subscriptions, in the language of table REST: `id=eq.5`, several joined by `,` or `&`, `or=(a.eq.1,b.lt.3)`. They
 * are compiled to SQL like filters of a request, so values are compared as values of the column's own type.
 */
import type { ProjectSettings } from '../projects/project-settings';
import { type CompiledStatement, bindRequest } from '../rest/compile/compiled-statement';
import { aliasReference } from '../rest/compile/field-sql';
import { conditionSql } from '../rest/compile/filter-sql';
import { type Parameter, StatementBuilder } from '../rest/compile/statement-builder';
import type { Catalog, Relation } from '../rest/catalog/catalog';
import type { FilterValue, Slot } from '../rest/grammar/query-values';
import { parseRestQuery } from '../rest/grammar/rest-query';
import type { LogicTree } from '../rest/grammar/tree';
import { planCondition } from '../rest/plan/plan-conditions';
import type { PlanContext } from '../rest/plan/plan-context';
import { badSubscription } from './changes.errors';

export interface ChangeFilter {
  /** The filter as the query of a URL. */
  readonly text: string;
  readonly trees: readonly LogicTree[];
  readonly values: readonly FilterValue[];
  /** Columns and computed fields that it names. */
  readonly fields: ReadonlySet<string>;
}

/** Matches a separator that is followed by the name and the operator of another filter. */
const JOINT = /[,&](?=(?:[^,&=()"]+=(?:not\.)?[a-z]+(?:\(\w+\))?\.|(?:not\.)?(?:and|or)=\())/;
const MAX_LENGTH = 4_096;

/** @throws AppError 400 */
export function parseChangeFilter(text: string): ChangeFilter {
  if (text.length > MAX_LENGTH) throw badSubscription(`A filter has at most ${MAX_LENGTH} characters`);
  const query = text
    .split(JOINT)
    .map((term) => {
      const at = term.indexOf('=');
      if (at < 1) throw badSubscription(`"${term}" is not a filter such as id=eq.5`);
      return `${encodeURIComponent(term.slice(0, at).trim())}=${encodeURIComponent(term.slice(at + 1))}`;
    })
    .join('&');
  return filterOf(query);
}

/** @param query the query of a URL that has no parameters but filters @throws AppError 400 */
export function filterOf(query: string): ChangeFilter {
  const { shape, values } = parseRestQuery(query, { hasArguments: false });
  const others =
    shape.selectGiven || shape.order.length > 0 || shape.windows.length > 0 || shape.columns !== null;
  const levels = [...shape.filters, ...shape.logic];
  if (others || shape.onConflict !== null || levels.some(({ path }) => path.length > 0))
    throw badSubscription('Changes can be filtered by columns of the table alone');
  const trees = levels.map(({ node }) => node);
  return { text: query, trees, values: values.filters, fields: new Set(trees.flatMap(fieldsOf)) };
}

function fieldsOf(tree: LogicTree): string[] {
  return tree.kind === 'group' ? tree.terms.flatMap(fieldsOf) : [tree.field.name];
}

/** Several filters use one builder, each with its own values. */
class FilterBuilder extends StatementBuilder {
  /** Number of values of the preceding filters. */
  first = 0;

  override parameter(value: Parameter): string {
    if (typeof value !== 'object' || value.kind !== 'filter') return super.parameter(value);
    return super.parameter({ ...value, slot: (value.slot + this.first) as Slot });
  }
}

export interface FilterScope {
  readonly settings: ProjectSettings;
  readonly role: string;
  readonly catalog: Catalog;
}

interface CompiledFilters {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Cached by the first filter, because each batch of changes uses the same filters. */
const COMPILED = new WeakMap<
  ChangeFilter,
  FilterScope & { readonly filters: readonly ChangeFilter[]; readonly compiled: CompiledFilters }
>();

/** compile(), once for a catalog. */
export function compileFilters(
  scope: FilterScope,
  relation: Relation,
  filters: readonly ChangeFilter[],
): CompiledFilters {
  const [first] = filters;
  const known = first && COMPILED.get(first);
  const isSame =
    known?.catalog === scope.catalog &&
    known.role === scope.role &&
    known.settings === scope.settings &&
    known.filters.length === filters.length &&
    known.filters.every(({ text }, at) => text === filters[at]?.text);
  if (known && isSame) return known.compiled;
  const compiled = compile(scope, relation, filters);
  if (first) COMPILED.set(first, { ...scope, filters, compiled });
  return compiled;
}

/**
 * One SQL condition for each filter, on a row whose alias is the relation's name.
 * @throws AppError 42703 for an unknown column
 */
function compile(
  { settings, role, catalog }: FilterScope,
  relation: Relation,
  filters: readonly ChangeFilter[],
): CompiledFilters {
  const context: PlanContext = {
    catalog,
    role,
    schema: relation.schema,
    exposedSchemas: settings.exposed_schemas,
    extraSearchPath: settings.extra_search_path,
    maxRows: null,
  };
  const builder = new FilterBuilder();
  const row = aliasReference(relation.name);
  const conditions = filters.map(({ trees, values }) => {
    const terms = trees.map((tree) =>
      conditionSql(builder, row, planCondition(context, { row: relation, embeds: [] }, tree)),
    );
    builder.first += values.length;
    return terms.length === 0 ? 'true' : `(${terms.join(' and ')})`;
  });
  const { text, parameters } = builder.finish(conditions.join(', '));
  const statement: CompiledStatement = { text, parameters, name: '', row: null };
  const all = { filters: filters.flatMap(({ values }) => values), arguments: new Map(), body: null };
  const { main } = bindRequest({ main: [statement], exactCount: null, plannedCount: null }, all);
  return { text, values: main[0]?.values ?? [] };
}
