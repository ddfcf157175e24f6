/** Turns the draft of a read, with all parameters attached, into its plan. */
import type { QualifiedName, Relationship } from '../catalog/catalog';
import type { SelectItem } from '../grammar/tree';
import { restError } from '../rest.errors';
import type { Draft, DraftEmbed } from './draft';
import type { EmbedPlan, JoinColumns, OutputPlan, ReadPlan, SourcePlan } from './plan';
import { embedAlias, parentColumnName, planCondition, planOrder } from './plan-conditions';
import { planCast } from './plan-cast';
import { type PlanContext, outputName, representation, resolveField } from './plan-context';
import { hoistAggregates } from './plan-spread';

/** @throws AppError 42703, PL108, PL118, PL120, PL127, PL158 */
export function planRead(context: PlanContext, root: Draft, source: SourcePlan): ReadPlan {
  return planLevel(context, root, { source, junction: null, joins: [], isListed: false });
}

interface PlannedEmbed {
  readonly embed: DraftEmbed;
  readonly plan: EmbedPlan;
}

interface Placement {
  readonly source: SourcePlan;
  readonly junction: ReadPlan['junction'];
  readonly joins: readonly JoinColumns[];
  /** True if the level's columns must be named one by one. */
  readonly isListed: boolean;
}

function planLevel(context: PlanContext, level: Draft, { isListed, ...place }: Placement): ReadPlan {
  // Orders are planned first: they decide which columns of the embeds the parent needs.
  const order = planOrder(context, level, level.order);
  const where = level.where.map((tree) => planCondition(context, level, tree));
  const names = isListed || isGrouped(level);
  const embeds = level.embeds.map((embed) => ({ embed, plan: planEmbed(context, level, embed, names) }));
  const outputs = planOutputs(context, level, embeds, names);
  const { limit, offset } = level.window;
  return {
    alias: level.alias,
    ...place,
    outputs,
    where,
    order,
    limit: capped(context, limit),
    offset,
    embeds: embeds.map(({ plan }) => (plan.shape === 'spread-row' ? hoistAggregates(plan).embed : plan)),
  };
}

/** `max_rows` applies to every level, as in PostgREST. */
function capped({ maxRows }: PlanContext, limit: number | null): number | null {
  return maxRows === null ? limit : Math.min(limit ?? maxRows, maxRows);
}

/** @param names whether the columns of the parent, including spread columns, are named one by one */
function planEmbed(context: PlanContext, parent: Draft, embed: DraftEmbed, names: boolean): EmbedPlan {
  const { item, draft, toOne, relationship } = embed;
  const isSpread = item.kind === 'spread';
  const shape = isSpread ? (toOne ? 'spread-row' : 'spread-columns') : toOne ? 'object' : 'array';
  const isListed =
    shape === 'spread-columns' || (shape === 'spread-row' && names) || draft.parentColumns.length > 0;
  const placement = placementOf(relationship, parent.alias, draft.alias);
  const read = planLevel(context, draft, { ...placement, isListed });
  if (shape === 'spread-columns' && read.outputs.some(isAggregate)) {
    throw restError('PL127', {
      message: 'Feature not implemented',
      detail: 'Aggregates are not implemented for one-to-many or many-to-many spreads.',
    });
  }
  const parentColumns = draft.parentColumns.map((field, index): OutputPlan =>
    plainOutput(field, parentColumnName(index)),
  );
  return {
    alias: embedAlias(draft),
    shape,
    inner: item.join === 'inner',
    read: { ...read, outputs: [...read.outputs, ...parentColumns] },
    columns: isListed ? read.outputs.map(nameOf) : null,
  };
}

function placementOf(relationship: Relationship, parent: string, alias: string): Omit<Placement, 'isListed'> {
  if (relationship.kind === 'computed') {
    const { routine, from, to } = relationship;
    const source: SourcePlan = { kind: 'computed', routine, relation: to, parent, parentType: from };
    return { source, junction: null, joins: [] };
  }
  const source: SourcePlan = { kind: 'relation', relation: relationship.to };
  if (relationship.kind !== 'many-to-many') {
    return { source, junction: null, joins: joinsOf(relationship.columns, parent, alias) };
  }
  const junction = { relation: relationship.junction, alias: `${alias}_junction` };
  return {
    source,
    junction,
    joins: [
      ...joinsOf(relationship.nearColumns, parent, junction.alias),
      ...joinsOf(relationship.farColumns, junction.alias, alias),
    ],
  };
}

function joinsOf(
  columns: readonly (readonly [string, string])[],
  left: string,
  right: string,
): JoinColumns[] {
  return columns.map(([near, far]) => ({
    left: { alias: left, column: near },
    right: { alias: right, column: far },
  }));
}

function planOutputs(
  context: PlanContext,
  level: Draft,
  embeds: readonly PlannedEmbed[],
  isListed: boolean,
): OutputPlan[] {
  const names = isListed || hasRepresentation(context, level);
  const embedOf = new Map(embeds.map((one) => [one.embed.item, one]));
  const outputs = level.select.flatMap((item): OutputPlan[] => {
    switch (item.kind) {
      case 'star':
        return names && level.row.columns.size > 0 ? allColumns(context, level) : [{ kind: 'all' }];
      case 'field':
        return [planField(context, level, item)];
      case 'row-count':
        return [{ kind: 'row-count', cast: planCast(context, item.cast), name: item.alias ?? 'count' }];
      case 'embed':
      case 'spread': {
        const planned = embedOf.get(item);
        return planned ? embedOutputs(planned) : [];
      }
    }
  });
  return outputs.length > 0 ? outputs : [{ kind: 'one', name: EMPTY_ROW }];
}

/** True for a level with aggregates, or with a to-one spread that contains some. */
function isGrouped({ select, embeds }: Draft): boolean {
  return (
    select.some((item) => item.kind === 'row-count' || (item.kind === 'field' && item.aggregate !== null)) ||
    embeds.some(({ item, toOne, draft }) => item.kind === 'spread' && toOne && isGrouped(draft))
  );
}

/** The name of the only column of a row without selected columns. */
export const EMPTY_ROW = 'plinth_one';

function hasRepresentation(context: PlanContext, { row }: Draft): boolean {
  if (context.catalog.representations.size === 0) return false;
  return [...row.columns.values()].some((column) => representation(context, column.declaredType, 'json'));
}

function allColumns(context: PlanContext, { row }: Draft): OutputPlan[] {
  return [...row.columns.values()].map((column) => ({
    ...plainOutput(resolveField(context, row, { name: column.name, path: [] }), column.name),
    format: representation(context, column.declaredType, 'json'),
  }));
}

function plainOutput(
  field: Extract<OutputPlan, { kind: 'field' }>['field'],
  name: string,
): Extract<OutputPlan, { kind: 'field' }> {
  return { kind: 'field', field, format: null, cast: null, aggregate: null, name };
}

function planField(
  context: PlanContext,
  { row }: Draft,
  item: Extract<SelectItem, { kind: 'field' }>,
): OutputPlan {
  const field = resolveField(context, row, item.field);
  const column = item.field.path.length === 0 ? row.columns.get(item.field.name) : undefined;
  const { alias } = item;
  const cast = planCast(context, item.cast);
  const format = column ? representation(context, column.declaredType, 'json') : null;
  const aggregateCast = planCast(context, item.aggregateCast);
  const aggregate = item.aggregate && { aggregate: item.aggregate, cast: aggregateCast };
  const name = aggregate ? (alias ?? aggregate.aggregate) : outputName(item.field, alias);
  return { kind: 'field', field, format, cast, aggregate, name };
}

/** The outputs of an embed in its parent; empty if no level of the embed selects columns. */
function embedOutputs({ embed, plan }: PlannedEmbed): OutputPlan[] {
  if (isEmpty(embed.draft)) return [];
  switch (plan.shape) {
    case 'object':
    case 'array':
      return [{ kind: 'embed', embed: plan.alias, toOne: embed.toOne, name: embed.name }];
    case 'spread-row':
      return hoistAggregates(plan).hoisted;
    case 'spread-columns':
      return (plan.columns ?? []).map((column) => ({
        kind: 'spread',
        embed: plan.alias,
        column,
        isEmbed: true,
        aggregate: null,
        name: column,
      }));
  }
}

function isEmpty({ select, embeds }: Draft): boolean {
  return (
    select.every(({ kind }) => kind === 'embed' || kind === 'spread') &&
    embeds.every(({ draft }) => isEmpty(draft))
  );
}

export function isAggregate(output: OutputPlan): boolean {
  if (output.kind === 'row-count') return true;
  return (output.kind === 'field' || output.kind === 'spread') && output.aggregate !== null;
}

function nameOf(output: OutputPlan): string {
  return output.kind === 'all' ? '*' : (output.name ?? '*');
}

/** The relations that a plan reads, for privilege checks and messages. */
export function relationsOf(plan: ReadPlan): QualifiedName[] {
  const own = plan.source.kind === 'relation' ? [plan.source.relation] : [];
  return [...own, ...plan.embeds.flatMap(({ read }) => relationsOf(read))];
}
