/** Lists the objects in a project's folder on the disk. Symbolic links are not objects. */
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { batchesOf } from '../../common/batches';
import { isMissing, isShard } from './disk-layout';
import { isObjectId, type StoredObject } from './object-store';

/** Number of concurrent calls of lstat(). */
const CONCURRENCY = 32;
/** Number of objects in a batch. */
const BATCH = 1_000;

/** The objects ordered by id, in batches. */
export async function* objectsBelow(folder: string): AsyncGenerator<StoredObject[]> {
  const shards = (await entriesOf(folder)).filter((entry) => entry.isDirectory() && isShard(entry.name));
  let batch: StoredObject[] = [];
  for (const { name } of shards.sort(byName)) {
    const directory = join(folder, name);
    const objects = (await entriesOf(directory)).filter((entry) => entry.isFile() && isObjectId(entry.name));
    for (const part of batchesOf(objects.sort(byName), CONCURRENCY)) {
      const found = await Promise.all(part.map((entry) => describe(directory, entry.name)));
      batch.push(...found.filter((object) => object !== null));
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The entries of a directory; empty if it does not exist. */
export async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Null for a file that was removed after its directory was read. */
export async function factsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function describe(directory: string, objectId: string): Promise<StoredObject | null> {
  const facts = await factsOf(join(directory, objectId));
  return facts && { objectId, size: facts.size, storedAt: facts.mtimeMs };
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : 1;
}
