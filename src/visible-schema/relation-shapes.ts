/** The columns of a relation's rows as they are read, inserted and updated. */
import { type Catalog, representationKey } from '../rest/catalog/catalog';
import type { Schema } from './json-schema';
import type { TypeSchemas } from './type-schemas';
import type { VisibleColumn, VisibleRelation } from './visible-relation';

export interface ShapeOptions {
  readonly catalog: Catalog;
  readonly types: TypeSchemas;
}

/** A column in a row that is read, inserted or updated. */
export interface ShapeMember {
  readonly column: VisibleColumn;
  /** Schema of values other than null. */
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export type Shape = 'row' | 'insert' | 'update';

/** Null where the role may not read, insert or update. */
export function shapeOf(
  visible: VisibleRelation,
  shape: Shape,
  { catalog, types }: ShapeOptions,
): readonly ShapeMember[] | null {
  const may = { row: visible.maySelect, insert: visible.mayInsert, update: visible.mayUpdate };
  if (!may[shape]) return null;
  const isOf = {
    row: (one: VisibleColumn) => one.maySelect,
    insert: (one: VisibleColumn) => one.mayInsert,
    update: (one: VisibleColumn) => one.mayUpdate,
  };
  return visible.columns.filter(isOf[shape]).map((column) => {
    const { declaredType, nullable: isNullable, hasDefault } = column.column;
    // A domain with a cast to json for output, or from json for input, may have any shape.
    const key =
      shape === 'row' ? representationKey(declaredType, 'json') : representationKey('json', declaredType);
    const isRepresented = catalog.representations.has(key);
    return {
      column,
      schema: isRepresented ? {} : types.of(typeOf(column.column)),
      isRequired: shape === 'row' || (shape === 'insert' && !isNullable && !hasDefault),
    };
  });
}

/** A domain's name is more specific than its base type. For other types, the input type includes the length. */
export function typeOf({ inputType, declaredType }: VisibleColumn['column']): string {
  const isBuiltIn = !declaredType.replace(/(\[\])+$/, '').includes('.');
  return isBuiltIn ? inputType : declaredType;
}
