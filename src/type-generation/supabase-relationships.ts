/** The foreign keys of a relation, by which the clients type embedded rows. */
import {
  type ColumnPair,
  type DirectRelationship,
  nameKey,
  type Relationship,
} from '../rest/catalog/catalog';
import { readableColumns, type VisibleRelation } from '../visible-schema/visible-relation';
import { indented, literal, objectType } from './type-script';
import { compareNames, type VisibleSchema } from '../visible-schema/visible-schema';

/**
 * A tuple of the keys whose columns the role may read at both ends. The clients look for a referenced relation in
 * the schema of the request, so keys to other schemas are left out.
 */
export function relationshipsType(
  one: VisibleRelation,
  { catalog, relationsByName }: Pick<VisibleSchema, 'catalog' | 'relationsByName'>,
): string {
  const { relation } = one;
  const keys = (catalog.relationships.get(nameKey(relation)) ?? []).filter(isForeignKey).filter((key) => {
    const to = relationsByName.get(nameKey(key.to));
    return to && key.to.schema === relation.schema && isReadable(one, key, 0) && isReadable(to, key, 1);
  });
  if (keys.length === 0) return '[]';
  const texts = [...keys].sort(byConstraint).map(keyType);
  return `[\n${indented(texts.map((text) => `${text},`).join('\n'))}\n]`;
}

function isForeignKey(one: Relationship): one is DirectRelationship {
  return one.kind === 'many-to-one' || (one.kind === 'one-to-one' && !one.isParent);
}

function isReadable({ columns }: VisibleRelation, key: DirectRelationship, end: 0 | 1): boolean {
  const readable = readableColumns({ columns });
  return key.columns.every((pair) => readable.has(pair[end]));
}

function byConstraint(a: DirectRelationship, b: DirectRelationship): number {
  if (a.constraint !== b.constraint) return a.constraint < b.constraint ? -1 : 1;
  return compareNames(a.to, b.to) || (namesText(a) < namesText(b) ? -1 : 1);
}

const namesText = ({ columns }: DirectRelationship): string => JSON.stringify(columns);

function keyType({ constraint, columns, kind, to }: DirectRelationship): string {
  const names = (end: 0 | 1): string =>
    `[${columns.map((pair: ColumnPair) => literal(pair[end])).join(', ')}]`;
  return objectType([
    { name: 'foreignKeyName', type: literal(constraint) },
    { name: 'columns', type: names(0) },
    { name: 'isOneToOne', type: String(kind === 'one-to-one') },
    { name: 'referencedRelation', type: literal(to.name) },
    { name: 'referencedColumns', type: names(1) },
  ]);
}
