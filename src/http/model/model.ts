/** Classes of bodies, queries and answers, made from their fields: `class SortDto extends model({ column: f.text() }) {}`. */
import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { deriveExample } from '../docs/example.decorator';
import type { Field } from './fields';

const MEMBERS = Symbol('names of the fields of a model');

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
  const inherited = base ? membersOf(base) : [];
  Reflect.defineMetadata(MEMBERS, inherited && [...inherited, ...Object.keys(fields)], made);
  return made;
}

/** Undefined for a class that was not made by model(), and for what is made of one. */
const membersOf = (type: Type): readonly string[] | undefined =>
  Reflect.getMetadata(MEMBERS, type) as string[] | undefined;

type CamelCase<Name> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** The answer that has the members of a record, which are in camel case there. No other member of the record is sent. */
export function answerOf<R extends object>(
  type: Type<R>,
  record: { readonly [Name in keyof R as CamelCase<Name>]: R[Name] },
): R {
  const camelCase = (name: string): string =>
    name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
  const values = record as Readonly<Record<string, unknown>>;
  const members = membersOf(type);
  if (!members) throw new Error(`${type.name} is not made of fields alone`);
  return Object.fromEntries(members.map((name) => [name, values[camelCase(name)]])) as R;
}
