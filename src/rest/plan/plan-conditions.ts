/** Filters and orders of one level, with their fields resolved to columns or embeds. */
import type { Field, LogicTree, OrderTerm } from '../grammar/tree';
import { notEmbedded, restError } from '../rest.errors';
import { type Draft, findEmbed } from './draft';
import type { ConditionPlan, OrderPlan } from './plan';
import { assertLanguage } from './plan-cast';
import { type PlanContext, resolveField, type RowType } from './plan-context';

/** The level of a filter: its columns and embeds. */
type FilteredLevel = Pick<Draft, 'row' | 'embeds'>;

/** @throws AppError 42703 for an unknown column, PL120 for a comparison with an embed other than `is.null` */
export function planCondition(context: PlanContext, level: FilteredLevel, tree: LogicTree): ConditionPlan {
  if (tree.kind === 'group') {
    const { operator, negated, terms } = tree;
    return {
      kind: 'group',
      operator,
      negated,
      terms: terms.map((term) => planCondition(context, level, term)),
    };
  }
  const { field, negated, operation } = tree;
  const embed = field.path.length === 0 ? findEmbed(level, field.name) : undefined;
  if (!embed) return planFilter(context, level.row, tree);
  const isNullTest =
    operation.kind === 'is' && (operation.keyword === 'null' || operation.keyword === 'not_null');
  if (isColumn(level, field, isNullTest)) return planFilter(context, level.row, tree);
  if (!isNullTest) {
    throw restError('PL120', {
      message: `Bad operator on the '${field.name}' embedded resource`,
      detail: 'Only is null or not is null filters are allowed on embedded resources',
    });
  }
  const isNull = (operation.keyword === 'null') !== negated;
  return { kind: 'embed', embed: embedAlias(embed.draft), toOne: embed.toOne, isNull };
}

function planFilter(
  context: PlanContext,
  row: RowType,
  { field, negated, operation }: Extract<LogicTree, { kind: 'filter' }>,
): ConditionPlan {
  assertLanguage(operation);
  return { kind: 'filter', field: resolveField(context, row, field), negated, operation };
}

/**
 * If a column and an embed have the same name, the name means the column, except in a comparison with null.
 * Example: `/tournaments?select=*,status(*)&status=eq.3`
 */
function isColumn({ row, embeds }: FilteredLevel, { name }: Field, isNullTest: boolean): boolean {
  return row.columns.has(name) && !(isNullTest && embeds.some((one) => one.name === name));
}

/** @throws AppError 42703, PL108, PL118 */
export function planOrder(context: PlanContext, level: Draft, terms: readonly OrderTerm[]): OrderPlan[] {
  return terms.map((term): OrderPlan => {
    const { direction, nulls } = term;
    if (term.kind === 'field') {
      const field = resolveField(context, level.row, term.field);
      return { by: { kind: 'field', field }, direction, nulls };
    }
    const embed = findEmbed(level, term.relation);
    if (!embed) throw notEmbedded(term.relation);
    if (!embed.toOne) {
      throw restError('PL118', {
        message: `A related order on '${term.relation}' is not possible`,
        detail: `'${level.relation?.name ?? level.row.name}' and '${term.relation}' do not form a many-to-one or one-to-one relationship`,
      });
    }
    const column = parentColumnName(embed.draft.parentColumns.length);
    embed.draft.parentColumns.push(
      resolveField(context, embed.draft.row, unaliased(embed.draft, term.field)),
    );
    return { by: { kind: 'embed', embed: embedAlias(embed.draft), column }, direction, nulls };
  });
}

/** Example: `/projects?select=id,clients(title:name)&order=clients(title)` */
function unaliased({ select }: Draft, field: Field): Field {
  const named = select.find((item) => item.kind === 'field' && item.alias === field.name);
  if (named?.kind !== 'field' || named.aggregate !== null) return field;
  return { name: named.field.name, path: [...named.field.path, ...field.path] };
}

/** The name of a column that an embed passes to its parent for ordering. */
export function parentColumnName(index: number): string {
  return `plinth_order_${index}`;
}

/** The alias of the lateral join, derived from the level's own alias. */
export function embedAlias({ alias }: Draft): string {
  return `${alias}_embed`;
}
