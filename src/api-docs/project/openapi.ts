/** Names for the parts of an OpenAPI document: @nestjs/swagger exports only the type of the whole. */
import type { OpenAPIObject } from '@nestjs/swagger';

export type Components = NonNullable<OpenAPIObject['components']>;
export type PathItem = OpenAPIObject['paths'][string];
export type Operation = NonNullable<PathItem['get']>;
export type Reference = Extract<NonNullable<Components['schemas']>[string], { $ref: string }>;
export type Schema = Exclude<NonNullable<Components['schemas']>[string], Reference> & {
  /** The type's name as PostgreSQL writes it. */
  'x-postgres-type'?: string;
};
export type Parameter = Exclude<NonNullable<Components['parameters']>[string], Reference>;
export type Response = Exclude<NonNullable<Components['responses']>[string], Reference>;

export const schemaRef = (name: string): Reference => ({ $ref: `#/components/schemas/${name}` });
export const parameterRef = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });
export const responseRef = (name: string): Reference => ({ $ref: `#/components/responses/${name}` });

/** An array of the given schema. */
export const listOf = (items: Schema | Reference): Schema => ({ type: 'array', items });

/** OpenAPI 3.0 ignores siblings of `$ref` (Reference Object), so a description needs `allOf` around it. */
export function annotated(schema: Schema | Reference, annotations: Schema): Schema {
  if ('$ref' in schema) {
    return Object.keys(annotations).length === 0 ? { allOf: [schema] } : { allOf: [schema], ...annotations };
  }
  return { ...schema, ...annotations };
}
