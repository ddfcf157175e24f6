/**
 * Removes bytes without a row, which a crash may leave, once they are too old to belong to an upload in
 * progress. Reports rows without bytes, which a crash never leaves. Deletes files that are older than their
 * bucket allows. Several replicas may run it concurrently.
 */
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { NamedFilesService } from '../files/named-files.service';
import { RenditionRepository } from '../pictures/rendition.repository';
import { ObjectAddress, ObjectStore } from '../providers/object-store';
import { DeletedProjects } from '../removal/deleted-projects.service';
import { RemovalHoldRepository } from '../removal/removal-hold.repository';
import { ResumableUploadRepository } from '../resumable/resumable-upload.repository';
import { serviceContext } from '../storage-transaction';
import { StorageMetrics } from '../storage-metrics.service';
import { Findings, MAX_LOSSES, StorageComparison } from './storage-comparison.service';

const HOUR_MS = 3_600_000;
/** The first run starts at a random time, so that replicas which start together do not sweep together. */
const FIRST_RUN_MS = 60_000;
const FIRST_RUN_SPREAD_MS = 600_000;
/** Maximum number of findings of each kind that a report or the log lists individually. */
const LISTED = 1_000;

@Injectable()
export class StorageSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StorageSweep.name);
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly registry: ProjectRegistry,
    private readonly deleted: DeletedProjects,
    private readonly hold: RemovalHoldRepository,
    private readonly comparison: StorageComparison,
    private readonly store: ObjectStore,
    private readonly uploads: ResumableUploadRepository,
    private readonly renditions: RenditionRepository,
    private readonly namedFiles: NamedFilesService,
    private readonly metrics: StorageMetrics,
    private readonly clock: Clock,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule(FIRST_RUN_MS + Math.random() * FIRST_RUN_SPREAD_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  /** Sweeps all projects. A project that fails is logged and skipped. */
  async sweepAll(): Promise<void> {
    let rowsWithoutBytes = 0;
    for await (const id of this.projectIds()) {
      if (this.stopped) return;
      try {
        const project = await this.registry.findById(id);
        if (project?.database.isPaused) continue;
        if (project) {
          rowsWithoutBytes += (await this.sweep(project)).rowsWithoutBytes;
          await this.namedFiles.removeAged(serviceContext(project), this.clock.now());
        } else await this.deleted.removeIfDeleted(id, this.oldest());
      } catch (error) {
        this.logger.error(`the files of project ${id} could not be swept: ${String(error)}`);
      }
    }
    this.metrics.sweepEnded(rowsWithoutBytes, this.clock.now());
  }

  /** Projects that have bytes, including deleted projects, and projects that may have lost all their bytes. */
  private async *projectIds(): AsyncGenerator<string> {
    const found = new Set<string>();
    for await (const id of this.store.projects()) {
      found.add(id);
      yield id;
    }
    for (const id of await this.registry.listIds()) if (!found.has(id)) yield id;
  }

  /**
   * Removes a project's bytes without a row, and logs rows without bytes.
   * @returns the numbers of removed objects without a row, of removed leftovers of unfinished uploads, and of rows without bytes
   * @throws AppError 409 during a backup, 500 if the provider is unavailable
   */
  async sweep(project: Project): Promise<{ objects: number; uploads: number; rowsWithoutBytes: number }> {
    let [objects, rowsWithoutBytes] = [0, 0];
    await this.uploads.removeExpired(project);
    await this.renditions.removeExpired(project);
    for await (const findings of this.comparison.compare(project, this.oldest())) {
      const orphans = findings.bytesWithoutRow.map(({ objectId }) => new ObjectAddress(project.id, objectId));
      if (orphans.length > 0) await this.hold.assertFree(project.id);
      await this.store.remove(orphans);
      objects += orphans.length;
      this.logLosses(project, findings, LISTED - rowsWithoutBytes);
      rowsWithoutBytes += findings.rowsWithoutBytes.length;
    }
    if (rowsWithoutBytes > LISTED) {
      this.logger.error(
        `${rowsWithoutBytes} files of project ${project.slug} have lost their bytes; the first ${LISTED} are listed above` +
          (rowsWithoutBytes < MAX_LOSSES ? '' : ', and the others were not compared'),
      );
    }
    const uploads = await this.store.removeUnfinished(project.id, this.oldest());
    this.metrics.swept(objects, uploads);
    if (objects + uploads > 0) {
      this.logger.log(
        `removed ${objects} objects without a row and ${uploads} unfinished uploads of project ${project.slug}`,
      );
    }
    return { objects, uploads, rowsWithoutBytes };
  }

  /** Compares rows and bytes, and changes nothing. @throws AppError 500 if the provider is unavailable */
  async check(project: Project) {
    const objectIds: string[] = [];
    const files: { id: string; filename: string }[] = [];
    const bytesWithoutRow = { count: 0, size: 0, objectIds };
    const rowsWithoutBytes = { count: 0, files };
    const report = { objects: 0, bytesWithoutRow, rowsWithoutBytes };
    for await (const findings of this.comparison.compare(project, this.oldest())) {
      report.objects += findings.compared;
      for (const { objectId, size } of findings.bytesWithoutRow) {
        bytesWithoutRow.count += 1;
        bytesWithoutRow.size += size;
        if (bytesWithoutRow.count <= LISTED) objectIds.push(objectId);
      }
      for (const { id, filename } of findings.rowsWithoutBytes) {
        rowsWithoutBytes.count += 1;
        if (rowsWithoutBytes.count <= LISTED) files.push({ id, filename });
      }
    }
    return report;
  }

  /**
   * @param atMost maximum number of files to log: after the loss of a whole disk, a line for each file would
   * fill the log every hour
   */
  private logLosses({ slug }: Project, { rowsWithoutBytes }: Findings, atMost: number): void {
    for (const { id } of rowsWithoutBytes.slice(0, Math.max(atMost, 0)))
      this.logger.error(`file ${id} of project ${slug} has lost its bytes`);
  }

  /** Milliseconds since the epoch; the row of younger bytes may still be inserted. */
  private oldest(): number {
    return this.clock.now() - this.config.orphanAgeMs;
  }

  private schedule(delay: number): void {
    this.timer = setTimeout(() => {
      const sweep = this.hold.whileSweeping(() => this.sweepAll());
      this.running = sweep.then(
        () => undefined,
        (error: unknown) => this.logger.error(`the sweep of files failed: ${String(error)}`),
      );
      void this.running.then(() => !this.stopped && this.schedule(HOUR_MS));
    }, delay);
    this.timer.unref();
  }
}
