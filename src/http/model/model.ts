/** Classes of bodies, queries and answers, made from their fields: `class SortDto extends model({ column: f.text() }) {}`. */
import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { deriveExample } from '../docs/example.decorator';
import type { Field } from './fields';

type Fields = Readonly<Record<string, Field<unknown, boolean>>>;
type Value<F> = F extends Field<infer T, boolean> ? T : never;
type OptionalName<F extends Fields> = {
  [K in keyof F]: F[K]['isOptional'] extends true ? K : never;
}[keyof F];
type Members<F extends Fields> = { readonly [K in Exclude<keyof F, OptionalName<F>>]: Value<F[K]> } & {
  readonly [K in OptionalName<F>]?: Value<F[K]>;
};

/** A class with the checks, the schema and the example of its fields, in addition to those of a base. */
export function model<F extends Fields>(fields: F): new () => Members<F>;
export function model<B extends object, F extends Fields>(base: Type<B>, fields: F): new () => B & Members<F>;
export function model(baseOrFields: Type | Fields, more?: Fields): Type {
  const [base, fields] = more ? [baseOrFields as Type, more] : [undefined, baseOrFields as Fields];
  const made = base ? class extends (base as Type<object>) {} : class {};
  for (const [name, { schema, checks }] of Object.entries(fields))
    for (const decorate of [ApiProperty(schema), ...checks]) decorate(made.prototype, name);
  deriveExample(made, base, () =>
    Object.entries(fields).flatMap(([name, { example, isOptional }]): [string, unknown][] => {
      const value = example();
      if (value !== undefined) return [[name, value]];
      if (isOptional) return [];
      throw new Error(`the field ${name} needs an example for the OpenAPI document`);
    }),
  );
  return made;
}
