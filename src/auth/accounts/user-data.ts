/** `data` of an account: JSON that the application keeps about its user, small enough for every answer with the user. */
import { JsonObject, JsonValue } from '../../common/text/json';
import { userDataTooLarge } from '../auth.errors';

/** Bytes of `data` as it is sent. */
const MAX_DATA = 1024 * 1024;
/** Characters of the text that PostgreSQL makes of it, with its blanks. */
export const MAX_DATA_TEXT = 2 * MAX_DATA;
/** Digits that PostgreSQL writes for a number that JSON writes with an exponent (1e308), at most. */
const MAX_DIGITS = 330;

/** @throws AppError 400 for data that could not be read back */
export function assertUserData(data: JsonObject | undefined): void {
  if (data === undefined) return;
  if (Buffer.byteLength(JSON.stringify(data)) + MAX_DIGITS * countExponents(data) > MAX_DATA) {
    throw userDataTooLarge(MAX_DATA);
  }
}

/** Level by level rather than recursive: how deep it may be is nobody's promise here. */
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
