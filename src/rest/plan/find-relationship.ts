/**
 * Finds the relationship of an embed: by the name of the far relation, of a constraint, of a column or of a
 * function, and by its hint. PostgREST's rules (reference, "Resource Embedding", "Foreign Key Joins").
 */
import { nameKey, type QualifiedName, type Relationship, type ColumnPair } from '../catalog/catalog';
import { isVisible, type PlanContext } from './plan-context';
import type { AppError } from '../../common/errors/app-error';
import { restError, statedError } from '../rest.errors';
import { mostSimilar } from '../../http/input/similar';

/** @throws AppError PL200 if there is no relationship, PL201 if there are several. */
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
 * A foreign key from a relation to itself gives two relationships: the table's name selects the to-many relationship,
 * the column's name the to-one relationship. Both have the same constraint, so its name cannot be a hint. Examples:
 * `/web_content?select=*,children:web_content(*)`, `/web_content?select=*,parent:p_web_id(*)`
 */
function matchesSelfEmbed(one: Relationship, embedded: string, hint: string | null): boolean {
  if (hint !== null) {
    return one.to.name === embedded && one.kind === 'one-to-many' && isFarColumn(one, hint);
  }
  if (one.kind === 'one-to-many') return one.to.name === embedded;
  return one.kind === 'many-to-one' && isNearColumn(one, embedded);
}

/** True for the name of the constraint, or of its only column on the near side. */
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

/** Errors of embedding, which show how to write the request correctly. */
function noRelationship(
  schema: string,
  from: string,
  embedded: string,
  hint: string | null,
  others: readonly Relationship[],
): AppError {
  const using = hint === null ? '' : ` using the hint '${hint}'`;
  const similar = mostSimilar(
    embedded,
    others.map(({ to }) => to.name),
  );
  return restError('PL200', {
    message: `Could not find a relationship between '${from}' and '${embedded}' in the schema cache`,
    detail: `Searched for a foreign key relationship between '${from}' and '${embedded}'${using} in the schema '${schema}', but no matches were found.`,
    hint:
      similar === null || similar === embedded
        ? null
        : `Perhaps you meant '${similar}' instead of '${embedded}'.`,
  });
}

/**
 * PostgreSQL's error for the duplicate alias in PostgREST's SQL when two embeds have the same name: their
 * objects would have the same key in the response.
 * @param depth of the embeds, 1 below the root
 */
export function embeddedTwice(from: string, name: string, depth: number): AppError {
  return statedError('42712', 400, {
    message: `table name "${from}_${name}_${depth}" specified more than once`,
    hint: `Give one of the embeds an alias, such as other:${name}(...).`,
  });
}

/** Status 300: `details` at the top level is the list of candidates, as in PostgREST and in the same order. */
function ambiguousEmbed(from: string, embedded: string, unsorted: readonly Relationship[]): AppError {
  const found = [...unsorted].sort(byKind);
  const candidates = found.map((one) => `'${embedded}!${hintFor(one)}'`).join(', ');
  return restError('PL201', {
    message: `Could not embed because more than one relationship was found for '${from}' and '${embedded}'`,
    detail: found.map((one) => `${one.kind}: ${relationshipText(one)}`).join('; '),
    hint: `Try changing '${embedded}' to one of the following: ${candidates}. Find the desired relationship in the 'details' key.`,
    extra: {
      details: found.map((one) => ({
        cardinality: one.kind,
        embedding: `${one.from.name} with ${one.to.name}`,
        relationship: relationshipText(one),
      })),
    },
  });
}

const KINDS: readonly Relationship['kind'][] = [
  'one-to-many',
  'many-to-one',
  'one-to-one',
  'many-to-many',
  'computed',
];

function byKind(a: Relationship, b: Relationship): number {
  if (a.kind !== b.kind) return KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
  return relationshipText(a) < relationshipText(b) ? -1 : 1;
}

function hintFor(one: Relationship): string {
  switch (one.kind) {
    case 'many-to-many':
      return one.junction.name;
    case 'computed':
      return one.routine.name;
    default:
      return one.constraint;
  }
}

function relationshipText(one: Relationship): string {
  switch (one.kind) {
    case 'many-to-many':
      return `${one.junction.name} using ${one.nearConstraint}${list(one.nearColumns, 1)} and ${one.farConstraint}${list(one.farColumns, 0)}`;
    case 'computed':
      return one.routine.name;
    default:
      return `${one.constraint} using ${one.from.name}${list(one.columns, 0)} and ${one.to.name}${list(one.columns, 1)}`;
  }
}

function list(columns: readonly ColumnPair[], side: 0 | 1): string {
  return `(${columns.map((pair) => pair[side]).join(', ')})`;
}
