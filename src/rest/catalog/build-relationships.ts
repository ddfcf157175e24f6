/**
 * Relationships between relations: foreign keys in both directions, foreign keys seen through views, many-to-many
 * through junctions, and computed relationships. PostgREST's rules (reference, "Resource Embedding").
 */
import {
  type ColumnPair,
  type DirectRelationship,
  type JunctionRelationship,
  nameKey,
  type QualifiedName,
  type Relationship,
} from './catalog';
import type { ConstraintRow, RoutineRow } from './catalog-rows';
import { combinations, type SchemaIndex } from './schema-index';

/** One end of a foreign key: a relation, and the names of the key's columns in it. */
interface End {
  readonly oid: string;
  readonly columns: readonly string[];
}

/** Yields to the event loop between its steps. */
export function* buildRelationships(
  index: SchemaIndex,
  routines: readonly RoutineRow[],
): Generator<void, Map<string, Relationship[]>> {
  const outgoing: DirectRelationship[] = [];
  for (const key of index.constraints) {
    if (key.type === 'f' && !key.inherited) outgoing.push(...fromForeignKey(index, key));
    yield;
  }
  const junctions = throughJunctions(
    index,
    outgoing.filter(({ kind }) => kind === 'many-to-one'),
  );
  const computed = computedRelationships(index, routines);
  const byRelation = new Map<string, Relationship[]>();
  for (const each of [outgoing, outgoing.map(inverse), junctions]) {
    for (const one of each) {
      if (!isOverridden(one, computed)) append(byRelation, nameKey(one.from), one);
      yield;
    }
  }
  for (const one of computed) append(byRelation, nameKey(one.from), one);
  return byRelation;
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** The relationship of the foreign key itself, and one for each view over either of its tables. */
function fromForeignKey(index: SchemaIndex, key: ConstraintRow): DirectRelationship[] {
  const foreign = key.foreign_columns ?? [];
  const near = ends(index, key.relation, key.columns);
  const far = ends(index, key.foreign_relation, foreign);
  const kind = isUnique(index, key) ? 'one-to-one' : 'many-to-one';
  return near.flatMap((from) => far.flatMap((to) => direct(index, kind, key.name, from, to)));
}

function ends(index: SchemaIndex, table: string, positions: readonly number[]): End[] {
  const own = index.namesOf(table, positions);
  const views = index
    .viewsShowing(table, positions)
    .flatMap(({ view, columns }) => combinations(columns).map((names) => ({ oid: view, columns: names })));
  return own ? [{ oid: table, columns: own }, ...views] : views;
}

function isUnique(index: SchemaIndex, key: ConstraintRow): boolean {
  const columns = sorted(key.columns);
  return index
    .constraintsOf(key.relation)
    .some((other) => other.type !== 'f' && sorted(other.columns) === columns);
}

const sorted = (positions: readonly number[]): string => [...positions].sort((a, b) => a - b).join();

function direct(
  index: SchemaIndex,
  kind: 'many-to-one' | 'one-to-one',
  constraint: string,
  from: End,
  to: End,
): DirectRelationship[] {
  const fromName = index.nameOf(from.oid);
  const toName = index.nameOf(to.oid);
  if (!fromName || !toName) return [];
  return [
    {
      kind,
      constraint,
      from: fromName,
      to: toName,
      fromIsView: index.isView(from.oid),
      toIsView: index.isView(to.oid),
      isSelf: from.oid === to.oid,
      isParent: false,
      columns: from.columns.map((column, at): ColumnPair => [column, to.columns[at] as string]),
    },
  ];
}

function inverse(one: DirectRelationship): DirectRelationship {
  return {
    ...one,
    kind: one.kind === 'many-to-one' ? 'one-to-many' : 'one-to-one',
    from: one.to,
    to: one.from,
    fromIsView: one.toIsView,
    toIsView: one.fromIsView,
    isParent: true,
    columns: one.columns.map(([near, far]): ColumnPair => [far, near]),
  };
}

/** A table is a junction if the columns of two of its foreign keys are part of its primary key. */
function throughJunctions(index: SchemaIndex, keys: readonly DirectRelationship[]): JunctionRelationship[] {
  const byJunction = new Map<string, DirectRelationship[]>();
  for (const key of keys) append(byJunction, nameKey(key.from), key);
  const primaryKeys = new Map(
    [...index.relations.values()].map((row) => [nameKey(row), index.primaryKeyOf(row.oid)] as const),
  );
  const found: JunctionRelationship[] = [];
  for (const [junction, own] of byJunction) {
    if (own.length < 2) continue;
    const primaryKey = new Set(primaryKeys.get(junction) ?? []);
    for (const near of own) {
      for (const far of own) {
        if (near.constraint === far.constraint || !covers(primaryKey, near, far)) continue;
        found.push(manyToMany(near, far));
      }
    }
  }
  return found;
}

function covers(primaryKey: ReadonlySet<string>, ...keys: readonly DirectRelationship[]): boolean {
  return keys.every(({ columns }) => columns.every(([column]) => primaryKey.has(column)));
}

function manyToMany(near: DirectRelationship, far: DirectRelationship): JunctionRelationship {
  return {
    kind: 'many-to-many',
    from: near.to,
    to: far.to,
    fromIsView: near.toIsView,
    toIsView: far.toIsView,
    isSelf: nameKey(near.to) === nameKey(far.to),
    junction: near.from,
    nearConstraint: near.constraint,
    farConstraint: far.constraint,
    nearColumns: near.columns.map(([column, target]): ColumnPair => [target, column]),
    farColumns: far.columns,
  };
}

function computedRelationships(index: SchemaIndex, routines: readonly RoutineRow[]): Relationship[] {
  return routines.flatMap((row): Relationship[] => {
    const { argument_relation: near, result_relation: far } = row;
    if (near === null || far === null) return [];
    const from = index.nameOf(near);
    const to = index.nameOf(far);
    if (!from || !to) return [];
    return [
      {
        kind: 'computed',
        routine: { schema: row.schema, name: row.name },
        toOne: row.single_row,
        from,
        to,
        fromIsView: index.isView(near),
        toIsView: index.isView(far),
        isSelf: near === far,
      },
    ];
  });
}

/** A computed relationship with the far relation's name, from the same relation, overrides a detected relationship. */
function isOverridden(one: Relationship, computed: readonly Relationship[]): boolean {
  return computed.some(
    (other) => other.kind === 'computed' && sameName(other.from, one.from) && sameName(other.routine, one.to),
  );
}

function sameName(a: QualifiedName, b: QualifiedName): boolean {
  return a.schema === b.schema && a.name === b.name;
}
