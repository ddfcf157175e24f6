/** Checks of fields that class-validator does not have, or says oddly. */
import { applyDecorators } from '@nestjs/common';
import { IsString, MaxLength, MinLength, ValidateBy } from 'class-validator';

/** Text of a length. The type is checked first: a number is no text that is too long. */
export function IsText({ min = 0, max }: { min?: number; max: number }): PropertyDecorator {
  return applyDecorators(
    // In this order, and the first fault is the one told; decorators in a column run from below.
    IsString(),
    ...(min > 0 ? [MinLength(min, { message: '$property should not be empty' })] : []),
    MaxLength(max),
  );
}

/** A display name. NUL and halves of surrogate pairs are refused in every body (JsonBodyInterceptor). */
export function IsName(): PropertyDecorator {
  return IsText({ max: 200 });
}

/** A day, or a day and a time, in the extended format (`2026-01-31T12:00:00Z`). */
const DATE_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** A point in time that `Date` reads as what it says. */
export function IsDateTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isDateTime',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' &&
        DATE_TIME.test(value) &&
        isOnCalendar(value.slice(0, 10)) &&
        !Number.isNaN(Date.parse(value)),
      defaultMessage: () => '$property must be a date and time such as 2026-01-31T12:00:00Z',
    },
  });
}

/** The 31st of February would become the 3rd of March. */
function isOnCalendar(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
