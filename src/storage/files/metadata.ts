/** Metadata of files: a small JSON object that the database can store. */
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { invalidParameters } from '../storage.errors';

/** Bytes of its JSON text. */
const MAX_BYTES = 16 * 1024;

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

/** The value itself. @throws AppError 400 */
export function assertMetadata(value: unknown): JsonObject {
  if (!isJsonObject(value)) throw invalidParameters('metadata must be a JSON object');
  const fault = storageFault('metadata', value);
  if (fault !== null) throw invalidParameters(fault);
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES) throw tooLong();
  return value;
}

const tooLong = (): Error => invalidParameters(`metadata must not be longer than ${MAX_BYTES} bytes`);
