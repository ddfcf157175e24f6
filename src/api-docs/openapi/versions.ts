/**
 * Converts schemas between the forms of OpenAPI 3.0 and 3.1. Documents are made in the form of 3.1; @nestjs/swagger
 * writes that of 3.0. Converters such as @apiture/openapi-down-convert keep the type null, and change columns that are named
 * like a keyword.
 */
import { nullable, type Schema, type SchemaType } from '../../visible-schema/json-schema';

export const OPENAPI_VERSIONS = { '3.0': '3.0.3', '3.1': '3.1.0' } as const;

export type OpenApiVersion = keyof typeof OPENAPI_VERSIONS;

/** A form in which a document is served. */
export interface DocumentFormat {
  readonly version: OpenApiVersion;
  readonly syntax: 'json' | 'yaml';
}

/** A Schema Object of OpenAPI 3.0.3. */
interface Schema30 extends Omit<Schema, 'type'> {
  readonly type?: SchemaType;
  readonly nullable?: boolean;
  readonly example?: unknown;
}

/** Converts 3.0 to 3.1. A schema that has the form of 3.1 already stays as it is. */
export function toSchema31(schema: Schema): Schema {
  const { nullable: isNullable, example, ...others } = schema as Schema30 & Schema;
  const { enum: values, description } = others;
  // OpenAPI 3.0 has no type for null alone.
  if (isNull(schema) || (values?.length === 1 && values[0] === null)) {
    return { type: 'null', ...(description === undefined ? {} : { description }) };
  }
  const plain = unwrapped(
    example === undefined || others.examples ? others : { ...others, examples: [example] },
  );
  return isNullable === true ? nullable(plain) : plain;
}

/** The type of a component's schema; undefined if it has none, or several. */
export type TypeOfComponent = (name: string) => SchemaType | undefined;

/** Converts 3.1 to 3.0, where `nullable` has no effect without a type. */
export function toSchema30(schema: Schema, typeOf: TypeOfComponent): Schema {
  const { examples, const: constant, $ref, ...others } = schema;
  const example = examples?.[0];
  const kept: Schema = {
    ...others,
    ...(constant === undefined ? {} : { enum: [constant] }),
    ...(example === undefined ? {} : { example }),
  };
  if ($ref !== undefined) return Object.keys(kept).length === 0 ? { $ref } : { allOf: [{ $ref }], ...kept };
  return withoutNull(kept, typeOf);
}

/** `allOf` with one reference is how 3.0 annotates a reference; 3.1 allows annotations next to it. */
function unwrapped(schema: Schema): Schema {
  const { allOf, type, ...annotations } = schema;
  const [only] = allOf ?? [];
  const isWrapper = allOf?.length === 1 && only?.$ref !== undefined && schema.properties === undefined;
  // Nest adds the type where the reference may be null.
  if (!isWrapper || (type !== undefined && type !== 'object')) return schema;
  return { ...only, ...annotations };
}

/** 3.0: `nullable` instead of the type null. */
function withoutNull(schema: Schema, typeOf: TypeOfComponent): Schema {
  const { type, anyOf, ...others } = schema;
  // Generators for 3.0 produce `null` only for a nullable type, and an enum with null alone breaks some.
  if (type === 'null') return { type: 'object', ...nullableMark, maxProperties: 0, ...others };
  if (Array.isArray(type)) return withTypes(type as SchemaType[], others);
  const alternatives = anyOf?.filter((one) => !isNull(one)) ?? [];
  if (!anyOf || alternatives.length === anyOf.length) return schema;
  const [first, ...more] = alternatives;
  if (!first) return schema;
  const orNull = nullable30(first, typeOf);
  return more.length > 0 ? { anyOf: [orNull, ...more], ...others } : { ...orNull, ...others };
}

function nullable30(schema: Schema, typeOf: TypeOfComponent): Schema {
  const { $ref } = schema;
  if ($ref === undefined) return { ...schema, ...nullableMark };
  const type = typeOf($ref.slice($ref.lastIndexOf('/') + 1));
  return { ...(type === undefined ? {} : { type }), allOf: [schema], ...nullableMark };
}

const nullableMark = { nullable: true } as Schema;

/** The type null in the form of 3.0: the inner schemas were converted before the outer one. */
function isNull(schema: Schema): boolean {
  return (schema as Schema30).nullable === true && schema.type === 'object' && schema.maxProperties === 0;
}

function withTypes(types: readonly SchemaType[], others: Schema): Schema {
  const [first, ...more] = types.filter((one) => one !== 'null');
  const orNull: Schema = { type: first, ...(types.includes('null') ? nullableMark : {}) };
  return more.length > 0
    ? { anyOf: [orNull, ...more.map((type) => ({ type }))], ...others }
    : { ...orNull, ...others };
}
