/**
 * `lang=supabase`: the type `Database` that @supabase/supabase-js and @supabase/postgrest-js take, with the structure
 * that their generator gives it.
 */
import { nameKey, type QualifiedName } from '../rest/catalog/catalog';
import type { VisibleRelation } from '../visible-schema/visible-relation';
import { declaredType, shapeMembers } from './shape-members';
import { SupabaseFunctions } from './supabase-functions';
import { SUPABASE_HELPERS } from './supabase-helpers';
import { relationshipsType } from './supabase-relationships';
import {
  docComment,
  indented,
  JSON_TYPE,
  literal,
  type Member,
  objectType,
  propertyName,
  typeOf,
} from './type-script';
import { type Schema, schemaRef } from '../visible-schema/json-schema';
import { typeName } from '../visible-schema/project-facts';
import { TypeSchemas } from '../visible-schema/type-schemas';
import type { VisibleSchema } from '../visible-schema/visible-schema';

/** The version of PostgREST's language that the clients may use. */
const POSTGREST_VERSION = '14';

const VIEWS = new Set(['view', 'materialized-view']);

/** Yields a declaration or an entry of one at a time. */
export function* supabaseTypes(schema: VisibleSchema): Generator<string> {
  yield* new SupabaseTypes(schema).write();
}

/** One member of a group such as `Tables`. */
interface Entry {
  readonly name: string;
  readonly comment?: string | null;
  /** Called when the entry is written. */
  readonly type: () => string;
}

class SupabaseTypes {
  private readonly types: TypeSchemas;
  private readonly functions: SupabaseFunctions;

  constructor(private readonly schema: VisibleSchema) {
    const declared = new Map(
      schema.declaredTypes.map((type) => {
        const group = type.labels ? 'Enums' : 'CompositeTypes';
        return [nameKey(typeName(type)), path(type.schema, group, type.type_name)];
      }),
    );
    const rowOf = (name: QualifiedName): Schema | null => {
      const row = this.rowPath(name);
      return row === null ? null : schemaRef(row);
    };
    this.types = new TypeSchemas(schema.types, {
      nameOf: (name) => declared.get(nameKey(name)) ?? null,
      rowOf,
    });
    this.functions = new SupabaseFunctions(schema, {
      typeText: (name) => typeOf(this.types.of(name)),
      rowPath: (name) => this.rowPath(name),
      columnsOf: (relation) => this.members(relation, 'row').map(({ comment: _none, ...member }) => member),
    });
  }

  *write(): Generator<string> {
    yield JSON_TYPE;
    yield `\nexport type Database = {\n  __InternalSupabase: { PostgrestVersion: ${literal(POSTGREST_VERSION)} };\n`;
    for (const schema of this.schema.schemas) {
      yield `  ${propertyName(schema)}: {\n`;
      yield* group('Tables', this.relations(schema, false));
      yield* group('Views', this.relations(schema, true));
      yield* group('Functions', this.functions.entries(schema));
      yield* group('Enums', this.declared(schema, true));
      yield* group('CompositeTypes', this.declared(schema, false));
      yield '  };\n';
    }
    yield '};\n';
    yield this.constants();
    yield SUPABASE_HELPERS.replaceAll('$DEFAULT', () => literal(this.schema.defaultSchema));
  }

  private relations(schema: string, areViews: boolean): Entry[] {
    return this.schema.relations
      .filter(({ relation }) => relation.schema === schema && VIEWS.has(relation.kind) === areViews)
      .map((one) => ({
        name: one.relation.name,
        comment: one.comment,
        type: () => this.relation(one, areViews),
      }));
  }

  /** The clients treat a table without a type for insertions as an error, so it gets the type `never`, which accepts none. */
  private relation(one: VisibleRelation, isView: boolean): string {
    const isWritable = one.mayInsert || one.mayUpdate;
    const written = (shape: 'insert' | 'update', may: boolean): string =>
      may ? objectType(withOthers(this.members(one, shape), one)) : 'never';
    return objectType([
      {
        name: 'Row',
        type: objectType([...this.members(one, 'row'), ...this.functions.fieldsOf(one.relation)]),
      },
      ...(isView && !isWritable
        ? []
        : [
            { name: 'Insert', type: written('insert', one.mayInsert) },
            { name: 'Update', type: written('update', one.mayUpdate) },
          ]),
      { name: 'Relationships', type: relationshipsType(one, this.schema) },
    ]);
  }

  private members(one: VisibleRelation, shape: 'row' | 'insert' | 'update'): Member[] {
    return shapeMembers(one, shape, { catalog: this.schema.catalog, types: this.types }) ?? [];
  }

  private declared(schema: string, areEnums: boolean): Entry[] {
    return this.schema.declaredTypes
      .filter((type) => type.schema === schema && (type.labels !== null) === areEnums)
      .map((type) => ({
        name: type.type_name,
        comment: type.comment,
        type: () => declaredType(type, this.types),
      }));
  }

  /** The labels of enums as values. */
  private constants(): string {
    const enumsOf = (schema: string): string => {
      const enums = this.schema.declaredTypes.filter((type) => type.schema === schema && type.labels);
      const members = enums.map(
        ({ type_name: name, labels }) =>
          `${propertyName(name)}: [${(labels ?? []).map(literal).join(', ')}],\n`,
      );
      return `${propertyName(schema)}: {\n  Enums: {\n${indented(members.join(''), 2)}  },\n},\n`;
    };
    return `\nexport const Constants = {\n${indented(this.schema.schemas.map(enumsOf).join(''))}} as const;\n`;
  }

  private rowPath({ schema, name }: QualifiedName): string | null {
    const visible = this.schema.relationsByName.get(nameKey({ schema, name }));
    if (!visible?.maySelect) return null;
    const groupName = VIEWS.has(visible.relation.kind) ? 'Views' : 'Tables';
    return `${path(schema, groupName, name)}["Row"]`;
  }
}

function path(schema: string, groupName: string, name: string): string {
  return `Database[${literal(schema)}][${literal(groupName)}][${literal(name)}]`;
}

/** Adds readable columns that the role may not write, with the type `never`. */
function withOthers(members: readonly Member[], { columns }: VisibleRelation): Member[] {
  const written = new Map(members.map((member) => [member.name, member]));
  return columns.map(
    ({ column }) => written.get(column.name) ?? { name: column.name, type: 'never', isOptional: true },
  );
}

function* group(name: string, entries: readonly Entry[]): Generator<string> {
  if (entries.length === 0) {
    yield `    ${name}: { [_ in never]: never };\n`;
    return;
  }
  yield `    ${name}: {\n`;
  for (const entry of entries) {
    const text = `${docComment(entry.comment)}${propertyName(entry.name)}: ${entry.type()};\n`;
    yield indented(text, 3);
  }
  yield '    };\n';
}
