/** Copies objects between two providers. Both list the objects of a project in the order of their ids. */
import { batchesOf } from '../../common/batches';
import {
  isProjectId,
  ObjectAddress,
  ObjectMissingError,
  type ObjectStore,
  type StoredObject,
} from './object-store';

/** Number of objects that are copied concurrently. */
const CONCURRENCY = 8;

export async function copyObject(
  from: ObjectStore,
  to: ObjectStore,
  address: ObjectAddress,
  size: number,
): Promise<void> {
  await to.put(address, copies(from.readWhole(address, size)));
}

/** Copies chunks: one store may reuse the memory of a chunk that it reads, and another may keep chunks that it writes. */
export async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

/**
 * Copies the objects that `to` lacks.
 * @param before copies only objects that were stored before this time, in milliseconds since the epoch
 * @returns their number
 */
export async function copyMissing(from: ObjectStore, to: ObjectStore, before: number): Promise<number> {
  let count = 0;
  for await (const { projectId, objects } of onlyIn(from, to, before)) {
    for (const batch of batchesOf(objects, CONCURRENCY))
      await Promise.all(
        batch.map(async ({ objectId, size }) => {
          const address = new ObjectAddress(projectId, objectId);
          // The existing copy is incomplete: it has another size.
          await to.remove([address]);
          await copyObject(from, to, address, size).catch((error: unknown) => {
            // The object was deleted in the meantime.
            if (!(error instanceof ObjectMissingError)) throw error;
          });
        }),
      );
    count += objects.length;
  }
  return count;
}

/** Removes the objects of a store that `other` does not have. @returns their number */
export async function removeGone(store: ObjectStore, other: ObjectStore, before: number): Promise<number> {
  let count = 0;
  for await (const { projectId, objects } of onlyIn(store, other, before)) {
    await store.remove(objects.map(({ objectId }) => new ObjectAddress(projectId, objectId)));
    count += objects.length;
  }
  return count;
}

/** Lists the objects of a store that `other` does not have with the same size. */
async function* onlyIn(
  store: ObjectStore,
  other: ObjectStore,
  before: number,
): AsyncGenerator<{ projectId: string; objects: StoredObject[] }> {
  for await (const projectId of store.projects()) {
    if (!isProjectId(projectId)) continue;
    const theirs = eachOf(other.objects(projectId));
    let their = await theirs.next();
    for await (const batch of store.objects(projectId)) {
      const objects: StoredObject[] = [];
      for (const object of batch) {
        while (!their.done && their.value.objectId < object.objectId) their = await theirs.next();
        const isThere =
          !their.done && their.value.objectId === object.objectId && their.value.size === object.size;
        if (!isThere && object.storedAt < before) objects.push(object);
      }
      if (objects.length > 0) yield { projectId, objects };
    }
  }
}

async function* eachOf(batches: AsyncIterable<StoredObject[]>): AsyncGenerator<StoredObject, undefined> {
  for await (const batch of batches) yield* batch;
  return undefined;
}
