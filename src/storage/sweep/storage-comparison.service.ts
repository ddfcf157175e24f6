/**
 * Compares a project's objects and rows by merging both lists, ordered by object id, and reports entries without a
 * counterpart. The rows come from tables that the project's owner may have altered, so the comparison is bounded: ids
 * must ascend, and the number of rows without bytes and the database's time are limited.
 */
import { Injectable } from '@nestjs/common';
import { Project } from '../../projects/project';
import { NamedFile } from '../files/file';
import { FileContentRepository, FILES_OF_A_PAGE } from '../files/file-content.repository';
import { ObjectStore, StoredObject } from '../providers/object-store';
import { ResumableUploadRepository } from '../resumable/resumable-upload.repository';
import { serviceContext, StorageContext } from '../storage-transaction';

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';

/** Maximum number of rows without bytes: beyond it a whole disk was lost, or the rows are fabricated. */
export const MAX_LOSSES = 10_000;
/** Maximum milliseconds that one comparison may use a project's database: other projects wait for it. */
const MAX_DATABASE_MS = 5 * 60_000;

export interface Findings {
  /** Number of objects that were compared. */
  readonly compared: number;
  /** Objects older than any upload in progress. */
  readonly bytesWithoutRow: StoredObject[];
  /** Files whose bytes are missing or incomplete. Plinth itself never causes this. */
  readonly rowsWithoutBytes: NamedFile[];
}

/** Remaining limits of one comparison. */
interface Budget {
  losses: number;
  databaseMs: number;
}

@Injectable()
export class StorageComparison {
  constructor(
    private readonly files: FileContentRepository,
    private readonly store: ObjectStore,
    private readonly uploads: ResumableUploadRepository,
  ) {}

  /**
   * Yields findings in batches. Lists the provider's objects before the rows, so that a row inserted in the
   * meantime is seen. Ends early after MAX_LOSSES rows without bytes.
   * @param before milliseconds since the epoch; the row of younger bytes may still be inserted
   * @throws AppError 500 if the provider is unavailable, because all bytes would seem to be missing
   * @throws Error if the project's database takes too long
   */
  async *compare(project: Project, before: number): AsyncGenerator<Findings> {
    await this.store.assertAvailable();
    const budget: Budget = { losses: MAX_LOSSES, databaseMs: MAX_DATABASE_MS };
    let after = LOWEST_ID;
    for await (const objects of this.store.objects(project.id)) {
      const last = objects.at(-1)?.objectId;
      if (last === undefined) continue;
      yield await this.findings(project, objects, { after, last }, before, budget);
      if (budget.losses === 0) return;
      after = last;
    }
    yield await this.findings(project, [], { after, last: null }, before, budget);
  }

  /** @param span of object ids: higher than `after`, up to and including `last`; null: no upper bound */
  private async findings(
    project: Project,
    objects: readonly StoredObject[],
    span: { after: string; last: string | null },
    before: number,
    budget: Budget,
  ): Promise<Findings> {
    const context = serviceContext(project);
    const unnamed = new Map(objects.map((object) => [object.objectId, object]));
    const rowsWithoutBytes: NamedFile[] = [];
    for await (const page of this.pages(context, span, budget)) {
      const lost = await this.withoutBytes(context, page, unnamed, budget);
      rowsWithoutBytes.push(...lost.slice(0, budget.losses));
      budget.losses = Math.max(0, budget.losses - lost.length);
      // The remaining rows were not read, so their objects must not be reported as bytes without a row.
      if (budget.losses === 0) return { compared: objects.length, bytesWithoutRow: [], rowsWithoutBytes };
    }
    const old = [...unnamed.values()].filter(({ storedAt }) => storedAt < before);
    const ids = old.map(({ objectId }) => objectId);
    const parts = ids.length === 0 ? new Set<string>() : await this.uploads.partsAmong(project, ids);
    const bytesWithoutRow = old.filter(({ objectId }) => !parts.has(objectId));
    return { compared: objects.length, bytesWithoutRow, rowsWithoutBytes };
  }

  private async *pages(
    context: StorageContext,
    { after, last }: { after: string; last: string | null },
    budget: Budget,
  ): AsyncGenerator<NamedFile[]> {
    for (let from = after; ;) {
      const page = await timed(budget, () => this.files.byObject(context, from, last));
      yield page;
      const end = page.at(-1);
      if (!end || page.length < FILES_OF_A_PAGE) return;
      from = end.address.objectId;
    }
  }

  /**
   * The files of a page whose bytes are missing. Files created or deleted since the objects were listed are
   * not reported: bytes are stored before their row is inserted, and removed after it is deleted.
   * @param unnamed objects for which no row was found so far; objects of this page are removed from it
   */
  private async withoutBytes(
    context: StorageContext,
    page: readonly NamedFile[],
    unnamed: Map<string, StoredObject>,
    budget: Budget,
  ): Promise<NamedFile[]> {
    const missing: NamedFile[] = [];
    for (const file of page) {
      const object = unnamed.get(file.address.objectId);
      unnamed.delete(file.address.objectId);
      if (object?.size !== file.size && !(await this.store.has(file.address, file.size))) missing.push(file);
    }
    if (missing.length === 0) return [];
    const addresses = missing.map(({ address }) => address);
    const named = await timed(budget, () => this.files.referencedObjects(context, addresses));
    return missing.filter(({ address }) => named.has(address.objectId));
  }
}

/** Subtracts the time of `work` from the budget. @throws Error if no time is left */
async function timed<T>(budget: Budget, work: () => Promise<T>): Promise<T> {
  if (budget.databaseMs <= 0)
    throw new Error(`its database took more than ${MAX_DATABASE_MS / 1000} seconds`);
  const begun = performance.now();
  try {
    return await work();
  } finally {
    budget.databaseMs -= performance.now() - begun;
  }
}
