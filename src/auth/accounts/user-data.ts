/** `data` of an account: JSON that the application keeps about its user. Every answer with the user contains it. */
import { JsonObject, JsonValue } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { invalidParameters } from '../../common/errors/http-errors';
import { userDataTooLarge } from '../auth.errors';

/** Bytes of `data` in a request. */
const MAX_DATA = 1024 * 1024;
/** Bytes: a token has room for these and the largest custom claims. */
const MAX_APP_DATA = 1_024;
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

/** Every access token has it. @throws AppError 400 for data that makes tokens too long */
export function assertAppData(data: JsonObject | undefined): void {
  if (data === undefined) return;
  const fault = storageFault('app_metadata', data);
  if (fault !== null) throw invalidParameters(fault);
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_APP_DATA)
    throw invalidParameters(`app_metadata must not be longer than ${MAX_APP_DATA} bytes`);
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
