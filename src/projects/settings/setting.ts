/**
 * A setting of a project, declared once: its type, validation, OpenAPI schemas and row in
 * docs/reference/administration.md all derive from the declaration.
 */
import type { ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { IsWebAddress } from '../../http/input/web-address';

export interface Setting<T> {
  /** The value for a project that has not set it. */
  readonly fallback: T;
  /** Description for OpenAPI and docs/reference/administration.md, without a full stop. */
  readonly description: string;
  /** The default as docs/reference/administration.md shows it, if the value itself is not meaningful: `none`, `the plan's`. */
  readonly fallbackText?: string;
  /** Markdown that docs/reference/administration.md adds to the description. */
  readonly details?: string;
  /** JSON schema of a value that is not null. */
  readonly schema: ApiPropertyOptions;
  /** Validators for a value that is not null; the first that fails gives the message. */
  readonly checks: readonly PropertyDecorator[];
}

/** The members that every kind of setting has in its declaration. */
type Declaration<T> = Pick<Setting<T>, 'fallback' | 'description' | 'fallbackText' | 'details'>;

const MAX_INT32 = 2 ** 31 - 1;

export function flag(declaration: Declaration<boolean>): Setting<boolean> {
  return { ...declaration, schema: { type: Boolean }, checks: [IsBoolean()] };
}

/**
 * With a fallback of null, null is also a valid value.
 * @param maximum default: the largest integer that a JSON number holds exactly
 */
export function integer<F extends number | null>({
  minimum,
  maximum = Number.MAX_SAFE_INTEGER,
  ...declaration
}: Declaration<F> & { readonly minimum: number; readonly maximum?: number }): Setting<F | number> {
  const format = maximum > MAX_INT32 ? { format: 'int64' } : {};
  return {
    ...declaration,
    schema: { type: 'integer', ...format, minimum, maximum },
    checks: [IsInt(), Min(minimum), Max(maximum)],
  };
}

/**
 * With a fallback of null, null is also a valid value.
 * @param checks run before those of the type
 */
export function text<F extends string | null>({
  maxLength,
  checks = [],
  ...declaration
}: Declaration<F> & {
  readonly maxLength: number;
  readonly checks?: readonly PropertyDecorator[];
}): Setting<F | string> {
  return {
    ...declaration,
    schema: { type: String, maxLength },
    checks: [...checks, IsString(), MaxLength(maxLength)],
  };
}

export function url(declaration: Declaration<null>): Setting<string | null> {
  return { ...declaration, schema: { type: String, format: 'uri' }, checks: [IsWebAddress()] };
}

/** @param checks run before those of the type */
export function list({
  maxItems,
  minItems,
  checks,
  ...declaration
}: Declaration<readonly string[]> & {
  readonly maxItems: number;
  readonly minItems?: number;
  readonly checks: readonly PropertyDecorator[];
}): Setting<readonly string[]> {
  return {
    ...declaration,
    schema: { type: [String], maxItems, ...(minItems === undefined ? {} : { minItems }) },
    checks: [...checks, IsArray(), ArrayMaxSize(maxItems), IsString({ each: true })],
  };
}

export function choice<T extends string>({
  values,
  ...declaration
}: Declaration<NoInfer<T>> & { readonly values: readonly T[] }): Setting<T> {
  return { ...declaration, schema: { enum: [...values] }, checks: [IsIn(values)] };
}
