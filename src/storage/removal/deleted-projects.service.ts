/**
 * Removes the bytes of a deleted project. The platform database sends a notification when a deletion ends, also if
 * another process finishes it after a crash. If the notification is lost, the sweep removes the bytes.
 */
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectsService } from '../../projects/projects.service';
import { ObjectStore } from '../providers/object-store';
import { ObjectRemover } from './object-remover.service';
import { RemovalHoldRepository } from './removal-hold.repository';

/** Actions of the audit log that end a project: a deletion, and the cleanup of an unfinished creation or deletion after a crash. */
const ENDS = ['project.delete', 'project.undo'];
const MAX_UNDONE = 100;

@Injectable()
export class DeletedProjects implements OnApplicationBootstrap {
  constructor(
    registry: ProjectRegistry,
    private readonly auditLog: AuditLogRepository,
    private readonly projects: ProjectsService,
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
    void this.lastUndone().then(
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
    const deletedAt = await this.deletedAt(projectId);
    return deletedAt !== null && deletedAt < before;
  }

  /** Ids of the projects that were undone most recently: a crash may have left their bytes. */
  private async lastUndone(): Promise<string[]> {
    const entries = await this.auditLog.list({ action: 'project.undo', limit: MAX_UNDONE });
    return [...new Set(entries.flatMap(({ project_id: id }) => id ?? []))];
  }

  /**
   * Finds when a project was deleted, in the audit log of this installation: other installations may store
   * bytes with the same provider.
   * @returns milliseconds since the epoch; null if the project exists (even while it is being restored from a
   * backup), or never belonged to this installation
   */
  private async deletedAt(projectId: string): Promise<number | null> {
    if (await this.projects.exists(projectId)) return null;
    for (const action of ENDS) {
      const [entry] = await this.auditLog.list({ projectId, action, limit: 1 });
      if (entry) return Date.parse(entry.at);
    }
    return null;
  }
}
