/** The schemas of a relation's rows: as read, inserted and updated. */
import { nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { nullable, type Schema } from '../../visible-schema/json-schema';
import { type Shape, shapeOf, type ShapeOptions } from '../../visible-schema/relation-shapes';
import { defaultValue } from './default-value';
import type { VisibleColumn, VisibleRelation } from '../../visible-schema/visible-relation';

export interface RelationSchemasOptions extends ShapeOptions {
  /** Columns that the role may read, by nameKey() of their relations. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
}

export function relationSchemas(
  visible: VisibleRelation,
  options: RelationSchemasOptions,
): Readonly<Record<Shape, Schema | null>> {
  const foreignKeys = foreignKeysOf(visible.relation, options);
  const schemaOf = (shape: Shape): Schema | null => {
    const members = shapeOf(visible, shape, options);
    if (!members) return null;
    const required = members.filter(({ isRequired }) => isRequired).map(({ column }) => column.column.name);
    const properties = members.map(({ column, schema }): [string, Schema] => {
      const { name, nullable: isNullable } = column.column;
      const texts = [
        column.comment,
        ...defaultNotes(column, shape === 'insert'),
        ...(visible.primaryKey.includes(name) ? ['Note:\nThis is a Primary Key.<pk/>'] : []),
        ...(foreignKeys.get(name) ?? []),
      ].filter((text) => text !== null);
      const typed = isNullable ? nullable(schema) : schema;
      return [name, texts.length === 0 ? typed : { ...typed, description: texts.join('\n\n') }];
    });
    return {
      type: 'object',
      ...(visible.comment === null ? {} : { description: visible.comment }),
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries(properties),
    };
  };
  return { row: schemaOf('row'), insert: schemaOf('insert'), update: schemaOf('update') };
}

/** Describes defaults in words: with the keyword `default`, generators require the member, or send it. */
function defaultNotes({ column, defaultText }: VisibleColumn, isNew: boolean): string[] {
  if (!isNew || !column.hasDefault) return [];
  const value = defaultText === null ? undefined : defaultValue(defaultText, column.inputType);
  if (value === undefined) return ['Filled in by the database if omitted.'];
  return [`Default: \`${JSON.stringify(value)}\``];
}

/** Notes by column in PostgREST's wording, which its tools look for. They name nothing that the role may not read. */
function foreignKeysOf(
  relation: QualifiedName,
  { catalog, readable }: RelationSchemasOptions,
): Map<string, string[]> {
  const notes = new Map<string, string[]>();
  for (const relationship of catalog.relationships.get(nameKey(relation)) ?? []) {
    const isForeignKey =
      relationship.kind === 'many-to-one' || (relationship.kind === 'one-to-one' && !relationship.isParent);
    if (!isForeignKey || relationship.toIsView) continue;
    const { to, columns } = relationship;
    for (const [near, far] of columns) {
      if (!readable.get(nameKey(to))?.has(far)) continue;
      const note = `Note:\nThis is a Foreign Key to \`${to.name}.${far}\`.<fk table='${to.name}' column='${far}'/>`;
      const known = notes.get(near) ?? [];
      if (!known.includes(note)) notes.set(near, [...known, note]);
    }
  }
  return notes;
}
