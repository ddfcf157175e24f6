/**
 * Files of incremental archives, in a store next to the archives of the project: each content once, named by its digest. The
 * list of the files of each archive is the only record of the contents that are needed.
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { copies } from '../../storage/providers/object-copies';
import type { ObjectStore, StoredObject } from '../../storage/providers/object-store';
import { RemovalHoldRepository } from '../../storage/removal/removal-hold.repository';
import { sealed, unsealed } from '../archive/age';
import { BackupDestination } from '../schedule/backup-destination';
import { addressOf, filesIn, folderOf, lineOf, type StoredFile, StoreKeys } from './file-lines';
import { NameFilter } from './name-filter';
import { type StoreOpener, storeOpener } from './open-stored';
import { type SourceFile, type StoredTotals, StoreWriter } from './store-writer';

@Injectable()
export class StoredFiles {
  readonly opener: StoreOpener;

  constructor(
    private readonly destination: BackupDestination,
    private readonly registry: ProjectRegistry,
    private readonly hold: RemovalHoldRepository,
  ) {
    this.opener = storeOpener(destination);
  }

  /**
   * Stores the files that the store lacks. The list is durable before the last line is read, and so are the files in it.
   * @param files ordered by object id, in batches
   * @param totals counted while the lines are read
   * @returns lines for the archive
   */
  async *add(
    projectId: string,
    runId: string,
    files: AsyncIterable<SourceFile[]>,
    totals: StoredTotals,
  ): AsyncGenerator<Buffer> {
    const [store, keys] = [await this.destination.store(), await this.keysOf(projectId)];
    const last = this.newestList(store, projectId, keys);
    const writer = await StoreWriter.begin(this.destination, projectId, keys, last, totals);
    // A failed store stops reading; the store's own error gives the reason.
    const list = new PassThrough().on('error', () => undefined);
    const saved = store.put(addressOf(projectId, 'lists', runId), sealed(list, keys.lists));
    saved.catch(() => undefined);
    try {
      for await (const batch of files)
        for await (const added of writer.add(batch)) {
          const lines = Buffer.from(added.map(lineOf).join(''));
          if (!list.write(lines)) await Promise.race([once(list, 'drain'), saved]);
          yield lines;
        }
      list.end();
      await saved;
    } finally {
      if (!list.writableEnded) list.destroy(new Error('the backup ended'));
      await saved.catch(() => undefined);
    }
  }

  /**
   * Removes the lists of archives that were removed, and the contents that no other list names. @returns the number of removed
   * contents, and their bytes
   */
  async prune(projectId: string, runIds: readonly string[]): Promise<{ count: number; bytes: number }> {
    // A process that took over a backup waits until this process has noticed the loss of its lock.
    let isHeld = true;
    const work = this.hold.during(projectId, async () => {
      const store = await this.destination.store();
      await store.remove(runIds.map((id) => addressOf(projectId, 'lists', id)));
      const keys = await this.keysOf(projectId);
      const needed = new NameFilter();
      for await (const lists of store.objects(folderOf(projectId, 'lists')))
        for (const list of lists)
          for await (const file of this.filesOf(store, projectId, list, keys)) needed.add(keys.nameOf(file));
      const removed = { count: 0, bytes: 0 };
      for await (const batch of store.objects(folderOf(projectId, 'files'))) {
        const gone = batch.filter(({ objectId }) => !needed.mayHave(objectId));
        if (!isHeld) break;
        await store.remove(gone.map(({ objectId }) => addressOf(projectId, 'files', objectId)));
        removed.count += gone.length;
        for (const { size } of gone) removed.bytes += size;
      }
      return removed;
    });
    return work.finally(() => (isHeld = false));
  }

  private async keysOf(projectId: string): Promise<StoreKeys> {
    return new StoreKeys((await this.registry.get(projectId)).dataSecret);
  }

  /** Yields nothing if there is no list. */
  private async *newestList(
    store: ObjectStore,
    projectId: string,
    keys: StoreKeys,
  ): AsyncGenerator<StoredFile, void, undefined> {
    let newest: StoredObject | undefined;
    for await (const lists of store.objects(folderOf(projectId, 'lists')))
      for (const list of lists) if (!newest || list.storedAt > newest.storedAt) newest = list;
    if (!newest) return;
    try {
      yield* this.filesOf(store, projectId, newest, keys);
    } catch (error) {
      // A killed process may have left a part of the list. The files are read again.
      if (!(error instanceof AppError && error.status === 400)) throw error;
    }
  }

  private filesOf(
    store: ObjectStore,
    projectId: string,
    { objectId, size }: StoredObject,
    keys: StoreKeys,
  ): AsyncGenerator<StoredFile, void, undefined> {
    const list = store.readWhole(addressOf(projectId, 'lists', objectId), size);
    return filesIn(unsealed(copies(list), keys.lists));
  }
}
