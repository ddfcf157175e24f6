/** The parts of an OpenAPI 3.1 document that Plinth writes: 3.0 and YAML are derived from them. */

export type SchemaType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

type Optional<Name extends string, Value> = { readonly [Key in Name]?: Value };
type Named<Value> = Readonly<Record<string, Value>>;

type Texts = '$ref' | 'title' | 'description' | 'format' | 'pattern';
/** Not the exclusive ones, whose form differs between 3.0 and 3.1. */
type Bounds = 'minimum' | 'maximum';
type Sizes = 'minLength' | 'maxLength' | 'minItems' | 'minProperties' | 'maxProperties';

/** JSON Schema 2020-12, as far as it is used. A `$ref` may have annotations next to it. */
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

export interface Reference {
  readonly $ref: string;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Named<Example>;
}

export type Content = Named<MediaType>;

export interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path' | 'cookie';
  readonly style?: 'form' | 'simple';
  readonly explode?: boolean;
  readonly examples?: Named<Example>;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Content;
}

export interface Response {
  readonly description: string;
  readonly headers?: Named<Header | Reference>;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody | Reference;
  readonly responses: Named<Response | Reference>;
  readonly security?: readonly Named<readonly string[]>[];
  readonly deprecated?: boolean;
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

export type Method = (typeof METHODS)[number];
export type PathItem = { readonly [Name in Method]?: Operation };

export interface SecurityScheme extends Optional<
  'description' | 'in' | 'name' | 'scheme' | 'bearerFormat',
  string
> {
  readonly type: string;
}

export interface Components {
  readonly schemas?: Named<Schema>;
  readonly parameters?: Named<Parameter>;
  readonly responses?: Named<Response>;
  readonly headers?: Named<Header>;
  readonly securitySchemes?: Named<SecurityScheme>;
}

/** Everything except tags, paths and components. */
export interface DocumentHead {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly contact?: { readonly name?: string; readonly url?: string };
    readonly license?: { readonly name: string; readonly url?: string };
  };
  readonly servers?: readonly { readonly url: string }[];
}

export interface Tag {
  readonly name: string;
  readonly description?: string;
}

export interface OpenApiDocument extends DocumentHead {
  readonly tags: readonly Tag[];
  readonly paths: Named<PathItem>;
  readonly components: Components;
}

export const schemaRef = (name: string): { readonly $ref: string } => ({
  $ref: `#/components/schemas/${name}`,
});
export const parameterRef = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });
export const responseRef = (name: string): Reference => ({ $ref: `#/components/responses/${name}` });
export const headerRef = (name: string): Reference => ({ $ref: `#/components/headers/${name}` });

export function textHeader(description: string, example?: string): Header {
  return { description, schema: { type: 'string' }, ...(example === undefined ? {} : { example }) };
}

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
