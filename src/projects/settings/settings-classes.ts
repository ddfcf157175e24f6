/** Builds, from declarations, the classes that Nest validates bodies with and that the OpenAPI document describes. */
import type { Type } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import type { Setting } from './setting';

type Settings = Readonly<Record<string, Setting<unknown>>>;

/** A sparse set of settings. Null resets a setting to its default. @param name of the OpenAPI schema */
export function inputClass<T>(name: string, settings: Settings): Type<T> {
  const isGiven = ValidateIf((_object, value) => value !== undefined && value !== null);
  return classOf(name, settings, (setting) => [
    ...setting.checks,
    isGiven,
    ApiPropertyOptional({ nullable: true, description: withDefault(setting), ...setting.schema }),
  ]);
}

/** All settings with their values. @param name of the OpenAPI schema */
export function outputClass<T>(name: string, settings: Settings): Type<T> {
  return classOf(name, settings, ({ description, schema, fallback }) => [
    ApiProperty({
      description,
      ...withoutLimits(schema),
      ...(fallback === null ? { nullable: true } : {}),
    }),
  ]);
}

/** Not declared as the schema's `default`: clients that fill in defaults would overwrite stored values. */
function withDefault({ description, fallback, fallbackText }: Setting<unknown>): string {
  return `${description}; default: ${fallbackText ?? JSON.stringify(fallback)}`;
}

function classOf<T>(
  name: string,
  settings: Settings,
  decoratorsOf: (setting: Setting<unknown>) => PropertyDecorator[],
): Type<T> {
  const made = class {};
  Object.defineProperty(made, 'name', { value: name });
  for (const [property, setting] of Object.entries(settings)) {
    // Swagger needs a type even for schemas with `oneOf`.
    Reflect.defineMetadata('design:type', Object, made.prototype, property);
    for (const decorate of decoratorsOf(setting)) decorate(made.prototype, property);
  }
  return made as Type<T>;
}

/** A stored value may predate the limit on input. */
function withoutLimits(schema: ApiPropertyOptions): ApiPropertyOptions {
  const limits = ['minimum', 'maximum', 'maxLength', 'minItems', 'maxItems'];
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !limits.includes(key)));
}
