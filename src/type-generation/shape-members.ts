/** Columns and declared types of a project as TypeScript members and types. */
import type { TypeFacts } from '../visible-schema/project-facts';
import { type ShapeOptions, shapeOf } from '../visible-schema/relation-shapes';
import type { TypeSchemas } from '../visible-schema/type-schemas';
import type { VisibleRelation } from '../visible-schema/visible-relation';
import { literal, type Member, objectType, orNull, typeOf, unionOf } from './type-script';

/** Null where the role may not read, insert or update. */
export function shapeMembers(
  visible: VisibleRelation,
  shape: Parameters<typeof shapeOf>[1],
  options: ShapeOptions,
): Member[] | null {
  const members = shapeOf(visible, shape, options)?.map(
    ({ column: { column, comment }, schema, isRequired }) => ({
      name: column.name,
      type: column.nullable ? orNull(typeOf(schema)) : typeOf(schema),
      isOptional: !isRequired,
      comment,
    }),
  );
  return members ?? null;
}

/** The labels of an enum, or the attributes of a composite type. */
export function declaredType({ labels, attributes }: TypeFacts, types: TypeSchemas): string {
  if (labels) return unionOf(labels.map(literal));
  return objectType(
    (attributes ?? []).map(([name, type]) => ({ name, type: orNull(typeOf(types.of(type))) })),
  );
}
