/** A project's types as JSON Schema: domains inline, enums and composite types as components. */
import { listOf, nullable, type Schema, schemaRef } from './json-schema';
import { builtinType } from './builtin-types';
import { type TypeFacts, typeName } from './project-facts';
import type { QualifiedName } from '../rest/catalog/catalog';

/** Maximum depth of domains over domains: a catalog that was read during DDL could contain a cycle. */
const MAX_DEPTH = 32;

export interface TypeSchemasOptions {
  /** The component of an enum or composite type; null for a type without one. */
  readonly nameOf: (name: QualifiedName) => string | null;
  /** The component of a relation's rows; null where the caller may not see it. */
  readonly rowOf: (name: QualifiedName) => Schema | null;
}

export class TypeSchemas {
  private readonly used = new Map<string, Schema>();
  /** Cached by name, because most columns have one of a few types. */
  private readonly made = new Map<string, Schema>();

  /** @param types by their names as format_type() writes them */
  constructor(
    private readonly types: ReadonlyMap<string, TypeFacts>,
    private readonly options: TypeSchemasOptions,
  ) {}

  /** @param name as format_type() writes it; a type that the role may not use is described by its shape alone */
  of(name: string, depth = 0): Schema {
    const known = this.made.get(name);
    if (known) return known;
    const schema = this.make(name, depth);
    // Deeper types may have been cut off.
    if (depth === 0) this.made.set(name, schema);
    return schema;
  }

  private make(name: string, depth: number): Schema {
    if (name.endsWith('[]')) return listOf(this.of(name.slice(0, -2), depth));
    const type = this.types.get(name);
    const { schema } = builtinType(name);
    // The name of a type that is not built in may be one that the role must not see: its facts were read as the role.
    if (!type) return name.includes('.') ? schema : withType(schema, name);
    switch (type.kind) {
      case 'e':
        return type.usable ? this.enumType(type) : { type: 'string' };
      case 'd':
        return this.domain(type, depth);
      case 'c':
        return this.rowType(type);
      default:
        return type.usable ? withType(schema, name) : schema;
    }
  }

  /** A value for examples. */
  sampleOf(name: string): unknown {
    const [base, type] = this.underlying(name);
    // The row of a table has all of its columns, and a composite type may lack any.
    if (type?.kind === 'c') return type.attributes || !this.options.rowOf(typeName(type)) ? {} : null;
    if (type?.kind === 'r') return 'empty';
    if (type?.kind === 'm') return '{}';
    if (base.endsWith('[]')) return [];
    return (type?.usable ? type.labels?.[0] : undefined) ?? builtinType(base).sample;
  }

  /** The type below a domain. */
  underlying(name: string, depth = 0): [name: string, type: TypeFacts | undefined] {
    const type = this.types.get(name);
    if (type?.kind !== 'd' || type.base === null || depth > MAX_DEPTH) return [name, type];
    return this.underlying(type.base, depth + 1);
  }

  /** Enums and composite types in use, by component name. */
  components(): ReadonlyMap<string, Schema> {
    return this.used;
  }

  private enumType(type: TypeFacts): Schema {
    // An enum without labels has no values: `enum` must not be empty.
    if (!type.labels || type.labels.length === 0) return withType({ type: 'string' }, type.name);
    const name = this.options.nameOf(typeName(type));
    const schema = withType({ type: 'string', enum: type.labels, ...described(type) }, type.name);
    if (name === null) return schema;
    this.used.set(name, schema);
    return schemaRef(name);
  }

  private domain(type: TypeFacts, depth: number): Schema {
    if (type.base === null || depth > MAX_DEPTH) return {};
    const base = this.of(type.base, depth + 1);
    return type.usable ? { ...base, ...described(type), 'x-postgres-type': type.name } : base;
  }

  private rowType(type: TypeFacts): Schema {
    if (!type.usable) return { type: 'object' };
    if (!type.attributes) return this.options.rowOf(typeName(type)) ?? { type: 'object' };
    const name = this.options.nameOf(typeName(type));
    if (name === null) return { type: 'object' };
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

function withType(schema: Schema, name: string): Schema {
  return { ...schema, 'x-postgres-type': name };
}

function described({ comment }: TypeFacts): Schema {
  return comment === null ? {} : { description: comment };
}
