/** Reads the whole of a stored object. */
import { ObjectAddress } from './object-address';
import { ObjectStore } from './object-store';

/** @param size bytes of the object, as the provider lists it */
export async function* wholeObject(
  store: ObjectStore,
  address: ObjectAddress,
  size: number,
): AsyncGenerator<Buffer> {
  if (size === 0) return;
  const content = await store.read(address, { start: 0, end: size - 1 });
  if (Buffer.isBuffer(content)) yield content;
  else yield* content;
}
