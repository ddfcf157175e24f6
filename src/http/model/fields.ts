/**
 * Classes of bodies, queries and answers, made from their fields: `class SortDto extends f.model({ column: f.text() }) {}`.
 * Each field declares a type, its checks, and its schema in the OpenAPI document. The checks run in their order,
 * and the first fault is reported. A description may stand before the other options, which are those of the schema.
 */
import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type as TypeOfMember } from 'class-transformer';
import * as validator from 'class-validator';
import type { JsonObject } from '../../common/text/json';
import { deriveExample, exampleOf } from '../docs/example.decorator';
import { FREE_OBJECT, INT64, SIZE, UUID_EXAMPLE } from '../docs/documented-types';
import { FreeJson } from '../input/free-json';

export { Example } from '../docs/example.decorator';

export interface Field<T, Optional extends boolean = false> {
  readonly schema: Schema;
  readonly checks: readonly PropertyDecorator[];
  /** Gives undefined for a field that is not shown. */
  readonly example: () => unknown;
  readonly isOptional: Optional;
  /** Only for the type: it has no value at run time. */
  readonly type: T;
}

interface Schema {
  readonly description?: string;
  readonly example?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly [option: string]: unknown;
}

interface Limits {
  /** Characters; documented as minLength and maxLength unless these are given. */
  readonly min?: number;
  readonly max?: number;
}

interface Further {
  readonly checks?: readonly PropertyDecorator[];
}

type Options<More = object> = string | (Schema & More);

const optionsOf = <T>(options: string | T, more: T): T =>
  typeof options === 'string' ? { ...more, description: options } : options;

/**
 * A field with its own schema, by default of a text, and its own checks. @param example the example, if the schema has none, or a
 * function that makes it
 */
export function field<T>(
  options: Options,
  checks: readonly PropertyDecorator[] = [],
  example?: unknown,
): Field<T> {
  const given = optionsOf<Schema>(options, {});
  const schema = 'type' in given || 'enum' in given ? given : { type: String, ...given };
  const ofType = (): unknown => (typeof example === 'function' ? (example as () => unknown)() : example);
  const shown = (): unknown => ('example' in schema ? schema.example : ofType());
  return { schema, checks, example: shown, isOptional: false } as unknown as Field<T>;
}

export function text<T extends string = string>(
  options: Options<Limits & Further> = {},
  more: Schema & Limits & Further = {},
): Field<T> {
  const { min = 0, max, checks = [], ...schema } = optionsOf(options, more);
  const lengths = { ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) };
  // Generators make no code for the length of an enum.
  const limits = schema.enum === undefined ? lengths : {};
  const message = min === 1 ? { message: '$property should not be empty' } : {};
  return field({ type: String, ...limits, ...schema }, [
    validator.IsString(),
    ...(min > 0 ? [validator.MinLength(min, message)] : []),
    ...(max === undefined ? [] : [validator.MaxLength(max)]),
    ...checks,
  ]);
}

export function texts(
  options: Options<Limits & Further> = {},
  more: Schema & Limits & Further = {},
): Field<readonly string[]> {
  const { min = 0, max, checks = [], ...schema } = optionsOf(options, more);
  return field({ type: [String], ...schema }, [
    ...arrayOf(schema),
    validator.IsString({ each: true }),
    ...(min > 0 ? [validator.MinLength(min, { each: true })] : []),
    ...(max === undefined ? [] : [validator.MaxLength(max, { each: true })]),
    ...checks,
  ]);
}

const arrayOf = ({ maxItems }: Schema): PropertyDecorator[] => [
  validator.IsArray(),
  ...(maxItems === undefined ? [] : [validator.ArrayMaxSize(maxItems)]),
];

export const uuid = (options: Options = {}, more: Schema = {}): Field<string> =>
  field({ type: String, format: 'uuid', ...optionsOf(options, more) }, [validator.IsUUID()], UUID_EXAMPLE);

/** A time in a response. */
export const time = (options: Options = {}, more: Schema = {}): Field<Date> => timeOf(options, more);

/** A time in a response that is already a string. */
export const timeText = (options: Options = {}, more: Schema = {}): Field<string> => timeOf(options, more);

const timeOf = <T>(options: Options, more: Schema): Field<T> =>
  field({ type: String, format: 'date-time', ...optionsOf(options, more) }, [], '2026-01-01T08:00:00.000Z');

export const flag = (options: Options = {}, more: Schema = {}): Field<boolean> =>
  field({ type: Boolean, ...optionsOf(options, more) }, [validator.IsBoolean()], true);

/** A number of an answer that may have a fraction. */
export const number = (options: Options = {}, more: Schema = {}): Field<number> =>
  field({ type: Number, ...optionsOf(options, more) }, [], 1.5);

export function whole(options: Options<Further> = {}, more: Schema & Further = {}): Field<number> {
  const { checks = [], ...schema } = optionsOf(options, more);
  const { minimum, maximum } = schema;
  const bounds = [
    ...(minimum === undefined ? [] : [validator.Min(minimum)]),
    ...(maximum === undefined ? [] : [validator.Max(maximum)]),
  ];
  return field({ type: 'integer', ...schema }, [validator.IsInt(), ...bounds, ...checks], minimum ?? 1);
}

/** A count: bytes, rows or files. */
export const size = (options: Options<Further> = {}, more: Schema & Further = {}): Field<number> =>
  whole({ ...SIZE, ...optionsOf(options, more) });

/** A whole number of a query string, in plain digits: without exponent and spaces. */
function digits(
  min: number,
  max?: number,
  options: Options<Further> = {},
  more: Schema & Further = {},
): Field<number> {
  const { checks = [], ...schema } = optionsOf(options, more);
  const bounds = { ...(max === undefined ? INT64 : { maximum: max }), minimum: min };
  return whole({ ...bounds, ...schema, checks: [Transform(fromDigits), ...checks] });
}

const fromDigits = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;

export const choice = <const T extends string>(
  values: readonly T[],
  options: Options = {},
  more: Schema = {},
): Field<T> =>
  field({ enum: values, type: String, ...optionsOf(options, more) }, [validator.IsIn(values)], values[0]);

export function choices<const T extends string>(
  values: readonly T[],
  options: Options<Further> = {},
  more: Schema & Further = {},
): Field<readonly T[]> {
  const { checks = [], ...schema } = optionsOf(options, more);
  const all = [...arrayOf({ maxItems: values.length, ...schema }), validator.IsIn(values, { each: true })];
  return field({ enum: values, isArray: true, ...schema }, [...all, ...checks], [values[0]]);
}

export const object = <T extends object>(type: Type<T>, options: Options = {}, more: Schema = {}): Field<T> =>
  field(
    { type, ...optionsOf(options, more) },
    [validator.IsObject(), validator.ValidateNested(), TypeOfMember(() => type)],
    () => exampleOf(type),
  );

export function list<T extends object>(
  type: Type<T>,
  options: Options<Further> = {},
  more: Schema & Further = {},
): Field<readonly T[]> {
  const { checks = [], ...schema } = optionsOf(options, more);
  const each = [validator.ValidateNested({ each: true }), TypeOfMember(() => type)];
  return field({ type: [type], ...schema }, [...arrayOf(schema), ...each, ...checks], () => [
    exampleOf(type),
  ]);
}

/** JSON that the caller chose. */
export const json = (options: Options = {}, more: Schema = {}): Field<JsonObject> =>
  field({ ...FREE_OBJECT, ...optionsOf(options, more) }, [FreeJson()], {});

/** JSON in a response. */
export const anyObject = (options: Options = {}, more: Schema = {}): Field<object> =>
  field({ ...FREE_OBJECT, ...optionsOf(options, more) }, [], {});

/** An empty string counts as absent. */
export const EmptyIsAbsent = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (value === '' ? undefined : value));

const absentIf =
  (check: PropertyDecorator) =>
  <T>(of: Field<T>): Field<T, true> => {
    const schema = { ...of.schema, required: false };
    return { ...of, schema, checks: [check, ...of.checks], example: () => schema.example, isOptional: true };
  };
const orAbsent = absentIf(validator.IsOptional());
const orUndefined = absentIf(validator.ValidateIf((_body, value: unknown) => value !== undefined));
const orNull = <T>(of: Field<T>): Field<T | null> => ({
  ...of,
  schema: { ...of.schema, nullable: true },
  example: () => {
    if ('example' in of.schema) return of.schema.example;
    // For OpenAPI 3.0 null is not a valid example of a reference that may be null.
    return isModel(of.schema.type) ? of.example() : null;
  },
});

const isModel = (type: unknown): boolean =>
  typeof type === 'function' && ![String, Number, Boolean].includes(type as never);

type Kind<A extends unknown[], T, Optional extends boolean = false> = (...given: A) => Field<T, Optional>;
const optionalOf =
  <A extends unknown[], T>(kind: Kind<A, T>): Kind<A, T, true> =>
  (...given) =>
    orAbsent(kind(...given));
const omittableOf =
  <A extends unknown[], T>(kind: Kind<A, T>): Kind<A, T, true> =>
  (...given) =>
    orUndefined(kind(...given));
const nullableOf =
  <A extends unknown[], T>(kind: Kind<A, T>): Kind<A, T | null> =>
  (...given) =>
    orNull(kind(...given));

/** May be left out, or null: `optional.text(...)` is `optional(text(...))`. */
export const optional = Object.assign(orAbsent, {
  choice: optionalOf(choice),
  choices: optionalOf(choices),
  digits: optionalOf(digits),
  flag: optionalOf(flag),
  json: optionalOf(json),
  list: optionalOf(list),
  object: optionalOf(object),
  size: optionalOf(size),
  text: optionalOf(text),
  texts: optionalOf(texts),
  timeText: optionalOf(timeText),
  uuid: optionalOf(uuid),
  whole: optionalOf(whole),
});

/** May be left out, but not null. */
export const omittable = Object.assign(orUndefined, {
  flag: omittableOf(flag),
  json: omittableOf(json),
  list: omittableOf(list),
  text: omittableOf(text),
});

export const nullable = Object.assign(orNull, {
  choice: nullableOf(choice),
  flag: nullableOf(flag),
  number: nullableOf(number),
  object: nullableOf(object),
  size: nullableOf(size),
  text: nullableOf(text),
  texts: nullableOf(texts),
  time: nullableOf(time),
  timeText: nullableOf(timeText),
  uuid: nullableOf(uuid),
  whole: nullableOf(whole),
});

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

/** Undefined for a class that was not made by model(), and for classes derived from one. */
const membersOf = (type: Type): readonly string[] | undefined =>
  Reflect.getMetadata(MEMBERS, type) as string[] | undefined;

type CamelCase<Name> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

/**
 * The answer with the members of a record, whose names are in camel case in the record. Other members of the record are not sent.
 */
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
