/** Walks a project's objects and rows side by side, in the order of object ids, and finds what has no counterpart. */
import { Injectable } from '@nestjs/common';
import { Project } from '../../projects/project';
import { FileContent } from '../files/file';
import { FileContentRepository } from '../files/file-content.repository';
import { ObjectStore, StoredObject } from '../providers/object-store';
import { serviceContext } from '../service-context';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

export interface Findings {
  /** Objects that were compared. */
  readonly compared: number;
  /** Old enough to belong to no upload under way. */
  readonly bytesWithoutRow: StoredObject[];
  /** Files whose bytes are missing or incomplete: nothing in Plinth makes these. */
  readonly rowsWithoutBytes: FileContent[];
}

@Injectable()
export class StorageComparison {
  constructor(
    private readonly files: FileContentRepository,
    private readonly store: ObjectStore,
  ) {}

  /**
   * Findings in batches. The provider is asked first and the database after it, so a row that came meanwhile is seen.
   * @param before milliseconds since the epoch; younger bytes may wait for their row
   * @throws AppError 500 when the provider is away: its silence must not pass for missing bytes
   */
  async *compare(project: Project, before: number): AsyncGenerator<Findings> {
    await this.store.assertAvailable();
    let after = BEFORE_ALL;
    for await (const objects of this.store.objects(project.id)) {
      const last = (objects.at(-1) as StoredObject).objectId;
      yield await this.findings(project, objects, after, last, before);
      after = last;
    }
    yield await this.findings(project, [], after, null, before);
  }

  private async findings(
    project: Project,
    objects: readonly StoredObject[],
    after: string,
    last: string | null,
    before: number,
  ): Promise<Findings> {
    const unnamed = new Map(objects.map((object) => [object.objectId, object]));
    const rowsWithoutBytes: FileContent[] = [];
    for await (const file of this.files.byObject(serviceContext(project), after, last)) {
      const object = unnamed.get(file.objectId);
      unnamed.delete(file.objectId);
      if (object?.size !== file.size && (await this.lacksBytes(project, file))) rowsWithoutBytes.push(file);
    }
    const bytesWithoutRow = [...unnamed.values()].filter(({ storedAt }) => storedAt < before);
    return { compared: objects.length, bytesWithoutRow, rowsWithoutBytes };
  }

  /** The file may have come, or gone, since the provider was asked: bytes come before their row and go after it. */
  private async lacksBytes(project: Project, { objectId, size }: FileContent): Promise<boolean> {
    if (await this.store.has({ projectId: project.id, objectId }, size)) return false;
    return this.files.isNamed(serviceContext(project), objectId);
  }
}
