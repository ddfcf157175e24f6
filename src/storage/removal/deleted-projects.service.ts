/**
 * Removes the bytes of a deleted project. The platform database sends a notification when a deletion ends, also if
 * another process finishes it after a crash. If the notification is lost, the sweep removes the bytes.
 */
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ObjectStore } from '../providers/object-store';
import { ObjectRemover } from './object-remover.service';
import { ProjectEnds } from './project-ends.service';
import { RemovalHoldRepository } from './removal-hold.repository';

@Injectable()
export class DeletedProjects implements OnApplicationBootstrap {
  constructor(
    registry: ProjectRegistry,
    private readonly ends: ProjectEnds,
    private readonly hold: RemovalHoldRepository,
    private readonly store: ObjectStore,
    private readonly remover: ObjectRemover,
  ) {
    registry.onChange((id) => {
      void registry.findById(id).then(
        (project) => project === null && this.removeLater(id),
        () => undefined,
      );
    });
  }

  /** Projects that were undone at the start, before this process could be notified. */
  onApplicationBootstrap(): void {
    void this.ends.lastUndone().then(
      (ids) => ids.forEach((id) => this.removeLater(id)),
      () => undefined,
    );
  }

  private removeLater(id: string): void {
    this.remover.runLater('all objects', id, () => this.removeIfDeleted(id, Infinity));
  }

  /**
   * @param before milliseconds since the epoch; a project that was deleted later is kept
   * @throws AppError 409 during a backup or a restore, 500 if the provider is unavailable
   */
  async removeIfDeleted(projectId: string, before: number): Promise<void> {
    if (!(await this.wasDeleted(projectId, before))) return;
    await this.hold.whileFree(projectId, async () => {
      if (!(await this.wasDeleted(projectId, before))) return;
      // On a disk that is not mounted, everything would seem to be removed already.
      await this.store.assertAvailable();
      await this.store.removeProject(projectId);
    });
  }

  private async wasDeleted(projectId: string, before: number): Promise<boolean> {
    const deletedAt = await this.ends.deletedAt(projectId);
    return deletedAt !== null && deletedAt < before;
  }
}
