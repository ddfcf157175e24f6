/** Metadata of files: a small JSON object that PostgreSQL can store. */
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { invalidParameters } from '../storage.errors';

/** Bytes of its JSON text, counting numbers with an exponent in full digits. */
const MAX_BYTES = 16 * 1024;

const EXPONENT = /e([+-]\d+)$/;

/** @throws AppError 400 */
export function parseMetadata(text: string): JsonObject {
  if (Buffer.byteLength(text) > MAX_BYTES) throw tooLong();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidParameters('metadata must be a JSON object', error);
  }
  return assertMetadata(value);
}

/** Returns the value. @throws AppError 400 */
export function assertMetadata(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalidParameters('metadata must be a JSON object');
  const fault = storageFault('metadata', value);
  if (fault !== null) throw invalidParameters(fault);
  if (printedBytes(value) > MAX_BYTES) throw tooLong();
  return value;
}

/** PostgreSQL prints 1e300 with 300 zeros, so lists of files would be fifty times as long as the uploads. */
function printedBytes(value: JsonObject): number {
  let digits = 0;
  const text = JSON.stringify(value, (_name, member: unknown) => {
    const [, exponent = '0'] = typeof member === 'number' ? (EXPONENT.exec(String(member)) ?? []) : [];
    digits += Math.abs(Number(exponent));
    return member;
  });
  return Buffer.byteLength(text) + digits;
}

const tooLong = (): Error => invalidParameters(`metadata must not be longer than ${MAX_BYTES} bytes`);
