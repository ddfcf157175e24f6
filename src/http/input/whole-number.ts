/** Whole numbers of query strings. */
import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

/**
 * A parameter that is a whole number within bounds, in plain digits: no exponent, no blank. A negative number gets the
 * message of the lower bound.
 */
export const WholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER): PropertyDecorator =>
  applyDecorators(Transform(toNumber), IsInt(), Max(max), Min(min));

function toNumber({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}
