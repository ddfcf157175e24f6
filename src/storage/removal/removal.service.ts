/** Removes the objects of a job. Removing an object twice does no harm. */
import { Injectable, Logger } from '@nestjs/common';
import { isObjectId, ObjectAddress } from '../providers/object-address';
import { ObjectStore } from '../providers/object-store';
import { StorageMetrics } from '../storage-metrics.service';
import { ProjectEnds } from './project-ends.service';
import { RemovalHoldRepository } from './removal-hold.repository';
import { RemovalJob } from './removal-queue';

@Injectable()
export class Removal {
  private readonly logger = new Logger('StorageRemoval');

  constructor(
    private readonly store: ObjectStore,
    private readonly ends: ProjectEnds,
    private readonly hold: RemovalHoldRepository,
    private readonly metrics: StorageMetrics,
  ) {}

  /**
   * @throws AppError 409 while a backup of the project runs, 500 when the provider is unavailable, Error while a project's
   *   deletion is not done
   */
  async run({ projectId, objectIds }: RemovalJob): Promise<void> {
    if (objectIds === null) await this.removeProject(projectId);
    else await this.removeObjects(projectId, objectIds);
    this.metrics.removal('done');
  }

  private async removeObjects(projectId: string, objectIds: readonly string[]): Promise<void> {
    await this.hold.assertFree(projectId);
    await this.store.remove(this.addressesOf(projectId, objectIds));
  }

  private async removeProject(projectId: string): Promise<void> {
    await this.hold.whileFree(projectId, async () => {
      if (await this.ends.isActive(projectId)) return;
      if ((await this.ends.deletedAt(projectId)) === null) throw new Error('the deletion is not done yet');
      // On a disk that is not mounted everything seems to be removed already.
      await this.store.assertAvailable();
      await this.store.removeProject(projectId);
    });
  }

  /** Leaves out invalid ids: a job may have been queued by a version that did not check them. */
  private addressesOf(projectId: string, objectIds: readonly string[]): ObjectAddress[] {
    const known = objectIds.filter(isObjectId);
    const unknown = objectIds.length - known.length;
    if (unknown > 0)
      this.logger.error(
        `${unknown} object ids in a removal job of project ${projectId} are invalid and were skipped`,
      );
    return known.map((objectId) => new ObjectAddress(projectId, objectId));
  }
}
