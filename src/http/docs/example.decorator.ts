/** The example of a DTO: each body and answer of the OpenAPI document that holds the DTO shows it. */
import 'reflect-metadata';
import type { Type } from '@nestjs/common';

const EXAMPLE = Symbol('example of a DTO');

/** @param example as it is sent; a test validates it against the schema of the DTO */
export function Example(example: object): ClassDecorator {
  return (target) => Reflect.defineMetadata(EXAMPLE, example, target);
}

/** @throws Error if the DTO has no example */
export function exampleOf(type: Type): object {
  const example = Reflect.getOwnMetadata(EXAMPLE, type) as object | undefined;
  if (!example) throw new Error(`${type.name} needs an @Example() for the OpenAPI document`);
  return example;
}
