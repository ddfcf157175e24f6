/** The example of a DTO: each body and answer of the OpenAPI document that holds the DTO shows it. */
import 'reflect-metadata';
import type { Type } from '@nestjs/common';

const EXAMPLE = Symbol('example of a DTO');
const DERIVED = Symbol('example from the fields of a DTO');

/** @param example as it is sent, in place of the one that its fields give; a test validates it against the schema */
export function Example(example: object): ClassDecorator {
  return (target) => Reflect.defineMetadata(EXAMPLE, example, target);
}

/** @param fields of a DTO with their examples, in addition to those of its base */
export function deriveExample(type: Type, base: Type | undefined, fields: () => [string, unknown][]): void {
  const derive = (): object => ({ ...(base && exampleOf(base)), ...Object.fromEntries(fields()) });
  Reflect.defineMetadata(DERIVED, derive, type);
}

/** @throws Error if the DTO has no example */
export function exampleOf(type: Type): object {
  const example = Reflect.getOwnMetadata(EXAMPLE, type) as object | undefined;
  if (example) return example;
  const derive = Reflect.getMetadata(DERIVED, type) as (() => object) | undefined;
  if (!derive) throw new Error(`${type.name} needs an @Example() for the OpenAPI document`);
  return derive();
}
