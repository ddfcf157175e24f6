/** Points in time in query strings. */
import { applyDecorators } from '@nestjs/common';
import { IsISO8601, Matches } from 'class-validator';

const RFC_3339 =
  /^[12]\d{3}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?(Z|[+-](0\d|1[0-4]):[0-5]\d)$/;

/** A parameter such as `2026-01-01T08:00:00Z` (RFC 3339), within what PostgreSQL's timestamptz accepts. */
export const Moment = (name: string): PropertyDecorator =>
  applyDecorators(
    Matches(RFC_3339, { message: `${name} must be a time such as 2026-01-01T08:00:00Z` }),
    IsISO8601({ strict: true }),
  );
