/** A validator that class-validator lacks. */
import { ValidateBy } from 'class-validator';

/** A date, or a date and a time, in the extended format of ISO 8601 (`2026-01-31T12:00:00Z`). */
const DATE_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** A date that exists in the calendar, with an optional time. */
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

/** False for the 31st of February, which `Date` turns into the 3rd of March. */
function isOnCalendar(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
