/** A relation as one role sees it: the catalog's structure, reduced to the role's privileges. */
import type { Column, Relation } from '../rest/catalog/catalog';
import { type ColumnFacts, type RelationFacts, RIGHTS } from './project-facts';

export interface VisibleColumn {
  readonly column: Column;
  readonly maySelect: boolean;
  readonly mayInsert: boolean;
  readonly mayUpdate: boolean;
  readonly defaultText: string | null;
  readonly comment: string | null;
}

export interface VisibleRelation {
  readonly relation: Relation;
  readonly comment: string | null;
  /** Columns that the role may read or write, in the table's order. */
  readonly columns: readonly VisibleColumn[];
  readonly maySelect: boolean;
  readonly mayInsert: boolean;
  readonly mayUpdate: boolean;
  readonly mayDelete: boolean;
  /** Empty unless the role may read the whole key. */
  readonly primaryKey: readonly string[];
}

/** Null if the role can neither read nor insert. */
export function visibleRelation(relation: Relation, facts: RelationFacts): VisibleRelation | null {
  const columns = (facts.columns ?? []).flatMap((one) => visibleColumn(relation, one));
  const readable = readableColumns({ columns });
  const maySelect = readable.size > 0;
  const mayInsert = relation.insertable && columns.some((one) => one.mayInsert);
  if (!maySelect && !mayInsert) return null;
  return {
    relation,
    comment: facts.comment,
    columns,
    maySelect,
    mayInsert,
    // PATCH and DELETE need a filter, and a filter needs SELECT.
    mayUpdate: maySelect && relation.updatable && columns.some((one) => one.mayUpdate),
    mayDelete: maySelect && relation.deletable && facts.may_delete,
    primaryKey: relation.primaryKey.every((name) => readable.has(name)) ? relation.primaryKey : [],
  };
}

export function readableColumns({ columns }: Pick<VisibleRelation, 'columns'>): ReadonlySet<string> {
  return new Set(columns.filter(({ maySelect }) => maySelect).map(({ column }) => column.name));
}

function visibleColumn(
  { columns }: Relation,
  [name, rights, isGenerated, defaultText, comment]: ColumnFacts,
): VisibleColumn[] {
  // The facts may be newer than the catalog.
  const column = columns.get(name);
  if (!column || rights === 0) return [];
  return [
    {
      column,
      maySelect: (rights & RIGHTS.select) !== 0,
      mayInsert: (rights & RIGHTS.insert) !== 0 && !isGenerated,
      mayUpdate: (rights & RIGHTS.update) !== 0 && !isGenerated,
      defaultText,
      comment,
    },
  ];
}
