/**
 * Finds the relationship of an embed: by the name of the far relation, of a constraint, of a column or of a
 * function, and by its hint. PostgREST's rules (reference, "Resource Embedding", "Foreign Key Joins").
 */
import { nameKey, type QualifiedName, type Relationship } from '../catalog/catalog';
import { ambiguousEmbed, noRelationship } from './embed.errors';
import { isVisible, type PlanContext } from './plan-context';

/** @throws AppError PL200 for none, PL201 for several. */
export function findRelationship(
  context: PlanContext,
  from: QualifiedName,
  embedded: string,
  hint: string | null,
): Relationship {
  const known = context.catalog.relationships.get(nameKey(from)) ?? [];
  const reachable = known.filter((one) => isReachable(context, one));
  const found = reachable.filter((one) => matchesEmbed(one, embedded, hint));
  const [first, second] = found;
  const seen = (list: readonly Relationship[]): Relationship[] => list.filter((one) => isSeen(context, one));
  if (!first) throw noRelationship(context.schema, from.name, embedded, hint, seen(reachable));
  if (second) throw ambiguousEmbed(from.name, embedded, seen(found));
  return first;
}

function isSeen(context: PlanContext, one: Relationship): boolean {
  return isVisible(context, one.to) && (one.kind !== 'many-to-many' || isVisible(context, one.junction));
}

function isReachable(context: PlanContext, one: Relationship): boolean {
  if (one.kind === 'computed') return context.exposedSchemas.includes(one.to.schema);
  if (one.to.schema !== context.schema) return false;
  return one.kind !== 'many-to-many' || context.exposedSchemas.includes(one.junction.schema);
}

function matchesEmbed(one: Relationship, embedded: string, hint: string | null): boolean {
  if (one.kind === 'computed') return one.routine.name === embedded;
  if (one.isSelf) return matchesSelfEmbed(one, embedded, hint);
  if (hint === null) return one.to.name === embedded || (!one.toIsView && isKeyOf(one, embedded));
  return one.to.name === embedded && (isKeyOf(one, hint) || isFarColumn(one, hint) || isJunction(one, hint));
}

/**
 * A key from a relation to itself gives two relationships: the table's name selects the to-many one, the
 * column's name the to-one. Both have the same constraint, so its name is no hint.
 * Examples: `/web_content?select=*,children:web_content(*)`, `/web_content?select=*,parent:p_web_id(*)`
 */
function matchesSelfEmbed(one: Relationship, embedded: string, hint: string | null): boolean {
  if (hint !== null) {
    return one.to.name === embedded && one.kind === 'one-to-many' && isFarColumn(one, hint);
  }
  if (one.kind === 'one-to-many') return one.to.name === embedded;
  return one.kind === 'many-to-one' && isNearColumn(one, embedded);
}

/** True for the constraint's name, or that of its only column on the near side. */
function isKeyOf(one: Relationship, name: string): boolean {
  if (one.kind === 'computed' || one.kind === 'many-to-many') return false;
  return one.constraint === name || isNearColumn(one, name);
}

function isNearColumn(one: Relationship, name: string): boolean {
  return 'columns' in one && one.columns.length === 1 && one.columns[0]?.[0] === name;
}

function isFarColumn(one: Relationship, name: string): boolean {
  return 'columns' in one && one.columns.length === 1 && one.columns[0]?.[1] === name;
}

function isJunction(one: Relationship, name: string): boolean {
  return one.kind === 'many-to-many' && one.junction.name === name;
}
