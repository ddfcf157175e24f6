/**
 * Keeps bytes and rows in step. What a crash leaves are bytes without a row (never a row without bytes): the sweep removes
 * them once they are too old to belong to an upload under way. Safe to run in several replicas at once.
 */
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { AuditLogRepository } from '../../projects/audit-log.repository';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { FileContentRepository } from '../files/file-content.repository';
import { ObjectStore } from '../providers/object-store';
import { serviceContext } from '../service-context';

const HOUR_MS = 3_600_000;
/** Bytes younger than this may wait for their row. */
const GRACE_MS = HOUR_MS;
/** Replicas that start together begin at different times. */
const FIRST_RUN_MS = 60_000;
const FIRST_RUN_SPREAD_MS = 600_000;

export interface StorageReport {
  /** Objects that no file names, and leftovers of uploads; removed, or removable. */
  readonly bytesWithoutRow: string[];
  /** Files whose bytes are missing or incomplete: nothing in Plinth makes these. */
  readonly rowsWithoutBytes: { readonly id: string; readonly filename: string }[];
}

@Injectable()
export class StorageSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StorageSweep.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly auditLog: AuditLogRepository,
    private readonly files: FileContentRepository,
    private readonly store: ObjectStore,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule(FIRST_RUN_MS + Math.random() * FIRST_RUN_SPREAD_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Sweeps all projects that have bytes; one that fails does not keep the others waiting. @returns objects removed */
  async sweepAll(): Promise<number> {
    let removed = 0;
    for await (const id of this.store.projects()) {
      if (this.stopped) break;
      try {
        const project = await this.registry.findById(id);
        if (project) removed += await this.sweep(project);
        else if (await this.wasDeleted(id)) await this.store.removeProject(id);
      } catch (error) {
        this.logger.error(`the files of project ${id} could not be swept: ${String(error)}`);
      }
    }
    return removed;
  }

  /** @returns objects removed */
  async sweep(project: Project): Promise<number> {
    const before = this.clock.now() - GRACE_MS;
    let removed = await this.store.removeUnfinished(project.id, before);
    for await (const objectId of this.orphans(project, before)) {
      await this.store.remove({ projectId: project.id, objectId });
      removed += 1;
    }
    if (removed > 0) this.logger.log(`removed ${removed} objects without a row from project ${project.slug}`);
    return removed;
  }

  /** Compares rows and bytes, and changes nothing. */
  async check(project: Project): Promise<StorageReport> {
    const bytesWithoutRow: string[] = [];
    for await (const objectId of this.orphans(project, this.clock.now() - GRACE_MS))
      bytesWithoutRow.push(objectId);
    const rowsWithoutBytes: StorageReport['rowsWithoutBytes'] = [];
    for await (const { id, filename, objectId, size } of this.files.all(serviceContext(project))) {
      const address = { projectId: project.id, objectId };
      if (!(await this.store.has(address, size))) rowsWithoutBytes.push({ id, filename });
    }
    return { bytesWithoutRow, rowsWithoutBytes };
  }

  /** Only what this install deleted itself, by its own record: the directory may be shared with another install. */
  private async wasDeleted(projectId: string): Promise<boolean> {
    const [entry] = await this.auditLog.list({ projectId, action: 'project.delete', limit: 1 });
    return entry !== undefined && entry.at.getTime() < this.clock.now() - GRACE_MS;
  }

  private async *orphans(project: Project, before: number): AsyncGenerator<string> {
    const context = serviceContext(project);
    for await (const batch of this.store.objectsBefore(project.id, before)) {
      const named = await this.files.namedObjects(context, batch);
      for (const objectId of batch) if (!named.has(objectId)) yield objectId;
    }
  }

  private schedule(delay: number): void {
    this.timer = setTimeout(() => {
      this.running = this.sweepAll().then(
        () => undefined,
        (error: unknown) => this.logger.error(`the sweep of files failed: ${String(error)}`),
      );
      void this.running.then(() => !this.stopped && this.schedule(HOUR_MS));
    }, delay);
    this.timer.unref();
  }
}
