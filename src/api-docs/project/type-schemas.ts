/** A project's types as JSON Schema: enums and domains inline, composite types as components. */
import { builtinSchema } from './builtin-types';
import { componentStem } from './names';
import { annotated, listOf, type Reference, type Schema, schemaRef } from './openapi';
import type { TypeFacts } from './project-facts';

/** Limit for domains over domains: a catalog that was read during DDL could contain a cycle. */
const MAX_DEPTH = 32;

export interface TypeSchemasOptions {
  readonly defaultSchema: string;
  /** The component of a relation's rows; null where the caller may not see it. */
  readonly rowOf: (schema: string, name: string) => Reference | null;
}

export class TypeSchemas {
  private readonly types: ReadonlyMap<string, TypeFacts>;
  private readonly used = new Map<string, Schema>();

  constructor(
    types: readonly TypeFacts[],
    private readonly options: TypeSchemasOptions,
  ) {
    this.types = new Map(types.map((type) => [type.name, type]));
  }

  /** @param name as format_type() writes it; a type that the role may not use is described by its shape alone */
  of(name: string, depth = 0): Schema | Reference {
    if (name.endsWith('[]')) return listOf(this.of(name.slice(0, -2), depth));
    const type = this.types.get(name);
    if (!type) return isQualified(name) ? builtinSchema(name) : withType(builtinSchema(name), name);
    switch (type.kind) {
      case 'e':
        return type.usable
          ? withType({ type: 'string', enum: [...(type.labels ?? [])], ...described(type) }, name)
          : { type: 'string' };
      case 'd':
        return this.domain(type, depth);
      case 'c':
        return this.rowType(type);
      default:
        return type.usable ? withType(builtinSchema(name), name) : builtinSchema(name);
    }
  }

  /** Composite types in use, by component name. */
  components(): ReadonlyMap<string, Schema> {
    return this.used;
  }

  private domain(type: TypeFacts, depth: number): Schema | Reference {
    if (type.base === null || depth > MAX_DEPTH) return {};
    const base = this.of(type.base, depth + 1);
    return type.usable ? annotated(base, { ...described(type), 'x-postgres-type': type.name }) : base;
  }

  private rowType(type: TypeFacts): Schema | Reference {
    if (!type.usable) return { type: 'object' };
    if (!type.attributes) return this.options.rowOf(type.schema, type.type_name) ?? { type: 'object' };
    const stem = componentStem({ schema: type.schema, name: type.type_name }, this.options.defaultSchema);
    const name = `${stem}.Type`;
    if (!this.used.has(name)) {
      // Registered before its members are read: a type can contain an array of itself.
      this.used.set(name, {});
      const members = type.attributes.map(([member, typeName]): [string, Schema] => [
        member,
        nullable(this.of(typeName)),
      ]);
      this.used.set(name, {
        type: 'object',
        ...described(type),
        properties: Object.fromEntries(members),
        'x-postgres-type': type.name,
      });
    }
    return schemaRef(name);
  }
}

/** The same schema, or null. An enum has to list null too (OpenAPI 3.0.3, "nullable"). */
export function nullable(schema: Schema | Reference): Schema {
  if ('$ref' in schema) return annotated(schema, { nullable: true });
  // A schema without a type allows null already.
  if (schema.type === undefined && !schema.allOf) return schema;
  return {
    ...schema,
    ...(schema.enum ? { enum: schema.enum.concat(null) } : {}),
    nullable: true,
  };
}

/** Names of PostgreSQL's own types have no schema; others were read with their rights, or came later. */
const isQualified = (name: string): boolean => name.includes('.');

function withType(schema: Schema, name: string): Schema {
  return { ...schema, 'x-postgres-type': name };
}

function described({ comment }: TypeFacts): Schema {
  return comment === null ? {} : { description: comment };
}
