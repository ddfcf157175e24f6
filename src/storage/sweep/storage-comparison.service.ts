/**
 * Walks a project's objects and rows side by side, in the order of object ids, and finds what has no counterpart. Rows come
 * from the project's own tables, so the walk ends whatever these answer: their ids must ascend, and rows without bytes and
 * the time of the database are limited.
 */
import { Injectable } from '@nestjs/common';
import { Project } from '../../projects/project';
import { NamedFile } from '../files/file';
import { FileContentRepository, FILES_OF_A_PAGE } from '../files/file-content.repository';
import { ObjectStore, StoredObject } from '../providers/object-store';
import { serviceContext } from '../service-context';
import { StorageContext } from '../storage-transaction';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Rows without bytes after which the comparison of a project ends: a whole disk is lost, or the rows are made up. */
export const MAX_LOSSES = 10_000;
/** Milliseconds that a project's database may take for a comparison; the other projects wait for it. */
const MAX_DATABASE_MS = 5 * 60_000;

export interface Findings {
  /** Objects that were compared. */
  readonly compared: number;
  /** Old enough to belong to no upload under way. */
  readonly bytesWithoutRow: StoredObject[];
  /** Files whose bytes are missing or incomplete: nothing in Plinth makes these. */
  readonly rowsWithoutBytes: NamedFile[];
}

/** What one comparison may still use up. */
interface Allowance {
  losses: number;
  databaseMs: number;
}

@Injectable()
export class StorageComparison {
  constructor(
    private readonly files: FileContentRepository,
    private readonly store: ObjectStore,
  ) {}

  /**
   * Findings in batches. The provider is asked first and the database after it, so a row that came meanwhile is seen. Ends
   * early after MAX_LOSSES rows without bytes.
   * @param before milliseconds since the epoch; younger bytes may wait for their row
   * @throws AppError 500 when the provider is away: its silence must not pass for missing bytes
   * @throws Error when the project's database takes too long
   */
  async *compare(project: Project, before: number): AsyncGenerator<Findings> {
    await this.store.assertAvailable();
    const allowance: Allowance = { losses: MAX_LOSSES, databaseMs: MAX_DATABASE_MS };
    let after = BEFORE_ALL;
    for await (const objects of this.store.objects(project.id)) {
      const last = (objects.at(-1) as StoredObject).objectId;
      yield await this.findings(project, objects, { after, last }, before, allowance);
      if (allowance.losses === 0) return;
      after = last;
    }
    yield await this.findings(project, [], { after, last: null }, before, allowance);
  }

  /** @param span object ids: those behind `after`, up to and with `last`, or all when it is null */
  private async findings(
    project: Project,
    objects: readonly StoredObject[],
    span: { after: string; last: string | null },
    before: number,
    allowance: Allowance,
  ): Promise<Findings> {
    const context = serviceContext(project);
    const unnamed = new Map(objects.map((object) => [object.objectId, object]));
    const rowsWithoutBytes: NamedFile[] = [];
    for await (const page of this.pages(context, span, allowance)) {
      const lost = await this.withoutBytes(context, page, unnamed, allowance);
      rowsWithoutBytes.push(...lost.slice(0, allowance.losses));
      allowance.losses = Math.max(0, allowance.losses - lost.length);
      // Objects whose rows were not read must not pass for bytes without a row.
      if (allowance.losses === 0) return { compared: objects.length, bytesWithoutRow: [], rowsWithoutBytes };
    }
    const bytesWithoutRow = [...unnamed.values()].filter(({ storedAt }) => storedAt < before);
    return { compared: objects.length, bytesWithoutRow, rowsWithoutBytes };
  }

  private async *pages(
    context: StorageContext,
    { after, last }: { after: string; last: string | null },
    allowance: Allowance,
  ): AsyncGenerator<NamedFile[]> {
    for (let from = after; ;) {
      const page = await timed(allowance, () => this.files.byObject(context, from, last));
      yield page;
      if (page.length < FILES_OF_A_PAGE) return;
      from = (page.at(-1) as NamedFile).address.objectId;
    }
  }

  /**
   * Those of a page whose bytes are not there. The file may have come, or gone, since the provider was asked: bytes come
   * before their row and go after it.
   * @param unnamed objects that no row has named yet; loses those that the page names
   */
  private async withoutBytes(
    context: StorageContext,
    page: readonly NamedFile[],
    unnamed: Map<string, StoredObject>,
    allowance: Allowance,
  ): Promise<NamedFile[]> {
    const missing: NamedFile[] = [];
    for (const file of page) {
      const object = unnamed.get(file.address.objectId);
      unnamed.delete(file.address.objectId);
      if (object?.size !== file.size && !(await this.store.has(file.address, file.size))) missing.push(file);
    }
    if (missing.length === 0) return [];
    const addresses = missing.map(({ address }) => address);
    const named = await timed(allowance, () => this.files.stillNamed(context, addresses));
    return missing.filter(({ address }) => named.has(address.objectId));
  }
}

/** Counts the time of work against the allowance. @throws Error when nothing of it is left */
async function timed<T>(allowance: Allowance, work: () => Promise<T>): Promise<T> {
  if (allowance.databaseMs <= 0)
    throw new Error(`its database took more than ${MAX_DATABASE_MS / 1000} seconds`);
  const begun = performance.now();
  try {
    return await work();
  } finally {
    allowance.databaseMs -= performance.now() - begun;
  }
}
