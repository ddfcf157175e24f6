/** Errors of embedding, which show how to write the request correctly. */
import { AppError } from '../../common/errors/app-error';
import type { ColumnPair, Relationship } from '../catalog/catalog';
import { restError } from '../rest.errors';
import { mostSimilar } from './similar';

export function noRelationship(
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
 * PostgreSQL's error for the duplicate alias in PostgREST's SQL when two embeds have the same name. Their
 * objects would share one key in the response.
 * @param depth of the embeds, 1 for those of the root
 */
export function embeddedTwice(from: string, name: string, depth: number): AppError {
  return new AppError({
    status: 400,
    code: '42712',
    message: `table name "${from}_${name}_${depth}" specified more than once`,
    database: {
      sqlstate: '42712',
      hint: `Give one of the embeds an alias, such as other:${name}(...).`,
    },
  });
}

/** 300: `details` at the top level is the list of candidates, as in PostgREST and in its order. */
export function ambiguousEmbed(from: string, embedded: string, unsorted: readonly Relationship[]): AppError {
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
