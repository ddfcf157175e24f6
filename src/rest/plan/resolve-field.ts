/** Resolves a name in a request to a column or computed field of the catalog. */
import { type Column, type QualifiedName, representationKey, type Relation } from '../catalog/catalog';
import type { Field } from '../grammar/tree';
import { undefinedColumn } from '../rest.errors';
import { isInReach, type PlanContext } from './plan-context';
import type { FieldPlan } from './plan';

/** The row type that contains a field: a relation's, or the result of a function that returns no relation. */
export interface RowType {
  /** The name for messages. */
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly computed: Relation['computed'];
}

/** @throws AppError 42703 when the row has no such field. */
export function resolveField(context: PlanContext, row: RowType, { name, path }: Field): FieldPlan {
  const column = row.columns.get(name);
  if (column) {
    return {
      base: { kind: 'column', name },
      path,
      toJsonb: path.length > 0 && column.typeClass !== 'json',
      isTsvector: column.typeClass === 'tsvector' && path.length === 0,
      parse: path.length > 0 ? null : representation(context, 'text', column.declaredType),
    };
  }
  const routine = row.computed.get(name)?.find((one) => isInReach(context, one));
  if (!routine) throw undefinedColumn(row.name, name);
  return {
    base: { kind: 'computed', routine },
    path,
    toJsonb: path.length > 0 && routine.typeClass !== 'json',
    isTsvector: routine.typeClass === 'tsvector' && path.length === 0,
    parse: null,
  };
}

/** The function of a domain's cast, if the project has created one. */
export function representation(context: PlanContext, source: string, target: string): QualifiedName | null {
  return context.catalog.representations.get(representationKey(source, target))?.routine ?? null;
}

/** The name of a selected field in the result: its alias, the last key of its path, or its own name. */
export function outputName({ name, path }: Field, alias: string | null): string {
  if (alias !== null) return alias;
  const lastKey = path.findLast((step) => step.kind === 'key');
  return lastKey?.kind === 'key' ? lastKey.key : name;
}
