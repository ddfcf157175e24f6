/** JSON Schema 2020-12, as far as the types of a project and OpenAPI 3.1 documents use it. */

export type SchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

type Optional<Name extends string, Value> = { readonly [Key in Name]?: Value };
type Named<Value> = Readonly<Record<string, Value>>;

type Texts = '$ref' | 'title' | 'description' | 'format' | 'pattern';
/** Not the exclusive ones, whose form differs between 3.0 and 3.1. */
type Bounds = 'minimum' | 'maximum';
type Sizes = 'minLength' | 'maxLength' | 'minItems' | 'minProperties' | 'maxProperties';

/** A `$ref` may have annotations next to it. */
export interface Schema
  extends
    Optional<Texts, string>,
    Optional<Bounds | Sizes, number>,
    Optional<'const' | 'default', unknown>,
    Optional<'enum' | 'examples', readonly unknown[]>,
    Optional<'allOf' | 'oneOf' | 'anyOf', readonly Schema[]>,
    Optional<'items' | 'not', Schema> {
  readonly type?: SchemaType | readonly SchemaType[];
  readonly required?: readonly string[];
  readonly properties?: Named<Schema>;
  readonly additionalProperties?: boolean | Schema;
  /** The type's name as PostgreSQL writes it. */
  readonly 'x-postgres-type'?: string;
}

export const schemaRef = (name: string): { readonly $ref: string } => ({
  $ref: `#/components/schemas/${name}`,
});

/** An array of the given schema. */
export const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** Undefined for a schema without a type, or with several. */
export const plainType = (schema: Schema | undefined): SchemaType | undefined =>
  typeof schema?.type === 'string' ? schema.type : undefined;

/** The same schema, or null. A schema without a type allows null already. */
export function nullable(schema: Schema): Schema {
  const { type, anyOf, enum: values } = schema;
  const withNull: Schema = { type: 'null' };
  if (schema.$ref !== undefined) {
    const { $ref, ...annotations } = schema;
    return { anyOf: [{ $ref }, withNull], ...annotations };
  }
  if (anyOf) return { ...schema, anyOf: [...anyOf, withNull] };
  if (type === undefined) return schema;
  const types: SchemaType[] = typeof type === 'string' ? [type] : [...type];
  if (!types.includes('null')) types.push('null');
  if (!values) return { ...schema, type: types };
  return { ...schema, type: types, enum: values.includes(null) ? values : [...values, null] };
}
