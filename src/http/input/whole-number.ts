/** Whole numbers of query strings. */
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, Max, Min } from 'class-validator';

const MAX_INT32 = 2 ** 31 - 1;

/**
 * A parameter that is a whole number within bounds, in plain digits: no exponent, no blank. A negative number gets the
 * message of the lower bound.
 */
export const WholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER): PropertyDecorator =>
  applyDecorators(
    ApiProperty({
      type: 'integer',
      minimum: min,
      maximum: max,
      ...(max > MAX_INT32 ? { format: 'int64' } : {}),
    }),
    Transform(toNumber),
    IsInt(),
    Max(max),
    Min(min),
  );

function toNumber({ value }: { value: unknown }): unknown {
  return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
}
