/** `data` of an account: JSON that the application keeps about its user. Every answer with the user contains it. */
import { JsonObject, JsonValue } from '../../common/text/json';
import { userDataTooLarge } from '../auth.errors';

/** Bytes of `data` in a request. */
const MAX_DATA = 1024 * 1024;
/** Characters of `data` as PostgreSQL prints it, with its white space. */
export const MAX_DATA_TEXT = 2 * MAX_DATA;
/** PostgreSQL prints a number with an exponent (1e308) as up to this many digits. */
const MAX_DIGITS = 330;

/** @throws AppError 400 for data that would be too long to read back */
export function assertUserData(data: JsonObject | undefined): void {
  if (data === undefined) return;
  if (Buffer.byteLength(JSON.stringify(data)) + MAX_DIGITS * countExponents(data) > MAX_DATA) {
    throw userDataTooLarge(MAX_DATA);
  }
}

/** Level by level: the depth is not limited here, and recursion could overflow the stack. */
function countExponents(data: JsonObject): number {
  let count = 0;
  let level: JsonValue[] = [data];
  while (level.length > 0) {
    count += level.filter((value) => typeof value === 'number' && String(value).includes('e')).length;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return count;
}
