import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TestPlinth } from './plinth';
import { TestProject } from './test-project';

/** The names of all files below a directory of DATA_DIR/files, complete or not. */
export function filesOnDisk(plinth: TestPlinth, below = ''): string[] {
  return readdirSync(join(plinth.dataDir, 'files', below), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
}

/**
 * Waits until the project's rows and the bytes on disk refer to the same objects, and fails after 10 s. A job removes
 * bytes after the response, so an earlier count may include bytes of deleted files.
 */
export async function expectBytesMatchRows(plinth: TestPlinth, project: TestProject): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const rows = await project.sql('select object_id from storage.files');
    const named = rows.map(({ object_id }: { object_id: string }) => object_id).sort();
    const stored = filesOnDisk(plinth, project.id).sort();
    if (Date.now() > deadline || named.join() === stored.join()) {
      expect(stored).toEqual(named);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
