/** The schemas of a relation's rows: as read, inserted and updated. */
import { type Catalog, nameKey, type QualifiedName, representationKey } from '../../rest/catalog/catalog';
import { nullable, type Schema } from '../openapi/model';
import { defaultValue } from './default-value';
import type { TypeSchemas } from './type-schemas';
import type { VisibleColumn, VisibleRelation } from './visible-relation';

export interface RelationSchemas {
  /** Null where the role may read no column. */
  readonly row: Schema | null;
  readonly insert: Schema | null;
  readonly update: Schema | null;
}

export interface RelationSchemasOptions {
  readonly catalog: Catalog;
  readonly types: TypeSchemas;
  /** Columns that the role may read, by nameKey() of their relations. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
}

export function relationSchemas(visible: VisibleRelation, options: RelationSchemasOptions): RelationSchemas {
  const { columns, relation, maySelect, mayInsert, mayUpdate, comment } = visible;
  const foreignKeys = foreignKeysOf(relation, options);
  const notes = (name: string): string[] => [
    ...(visible.primaryKey.includes(name) ? ['Note:\nThis is a Primary Key.<pk/>'] : []),
    ...(foreignKeys.get(name) ?? []),
  ];
  const shape = (
    chosen: readonly VisibleColumn[],
    required: readonly VisibleColumn[],
    schemaOf: (column: VisibleColumn) => Schema,
  ): Schema => ({
    type: 'object',
    ...(comment === null ? {} : { description: comment }),
    ...(required.length > 0 ? { required: required.map(({ column }) => column.name) } : {}),
    properties: Object.fromEntries(chosen.map((one) => [one.column.name, schemaOf(one)])),
  });
  const read = columns.filter((one) => one.maySelect);
  const inserted = columns.filter((one) => one.mayInsert);
  const updated = columns.filter((one) => one.mayUpdate);
  const written = (isNew: boolean) => (one: VisibleColumn) =>
    columnSchema(one, inputOf(one, options), [...defaultNotes(one, isNew), ...notes(one.column.name)]);
  return {
    row: maySelect
      ? shape(read, read, (one) => columnSchema(one, outputOf(one, options), notes(one.column.name)))
      : null,
    insert: mayInsert
      ? shape(
          inserted,
          inserted.filter(({ column }) => !column.nullable && !column.hasDefault),
          written(true),
        )
      : null,
    update: mayUpdate ? shape(updated, [], written(false)) : null,
  };
}

function columnSchema({ column, comment }: VisibleColumn, schema: Schema, notes: readonly string[]): Schema {
  const typed = column.nullable ? nullable(schema) : schema;
  const texts = [...(comment === null ? [] : [comment]), ...notes];
  return texts.length === 0 ? typed : { ...typed, description: texts.join('\n\n') };
}

/** Defaults are told in words: with the keyword `default`, generators require the member, or send it. */
function defaultNotes({ column, defaultText }: VisibleColumn, isNew: boolean): string[] {
  if (!isNew || !column.hasDefault) return [];
  const value = defaultText === null ? undefined : defaultValue(defaultText, column.inputType);
  if (value === undefined) return ['Filled in by the database if omitted.'];
  return [`Default: \`${JSON.stringify(value)}\``];
}

/** A domain with a cast to json for output, or from json or text for input, may have any shape. */
function outputOf({ column }: VisibleColumn, { catalog, types }: RelationSchemasOptions): Schema {
  const isRepresented = catalog.representations.has(representationKey(column.declaredType, 'json'));
  return isRepresented ? {} : types.of(typeOf(column));
}

function inputOf({ column }: VisibleColumn, { catalog, types }: RelationSchemasOptions): Schema {
  const isRepresented = catalog.representations.has(representationKey('json', column.declaredType));
  return isRepresented ? {} : types.of(typeOf(column));
}

/** A domain's name is more specific than its base type. For other types, the input type includes the length. */
export function typeOf({ inputType, declaredType }: VisibleColumn['column']): string {
  const isBuiltIn = !declaredType.replace(/(\[\])+$/, '').includes('.');
  return isBuiltIn ? inputType : declaredType;
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
