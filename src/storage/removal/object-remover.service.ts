/**
 * Removes bytes after their row, in the background, so that no request waits for the provider. It writes nothing to a database,
 * so that deleting frees space on a full disk. The sweep removes what remains after a failure or a crash.
 */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Slots } from '../../admission/slots';
import { ObjectAddress, ObjectStore } from '../providers/object-store';
import { StorageMetrics } from '../storage-metrics.service';
import { RemovalHoldRepository } from './removal-hold.repository';

/** Number of concurrent removals, and of removals that wait in memory; each has up to 1,000 objects. */
const CONCURRENCY = 8;
const MAX_WAITING = 100;

@Injectable()
export class ObjectRemover implements OnApplicationShutdown {
  private readonly logger = new Logger(ObjectRemover.name);
  private readonly running = new Set<Promise<void>>();
  private readonly slots = new Slots(CONCURRENCY, MAX_WAITING);

  constructor(
    private readonly store: ObjectStore,
    private readonly hold: RemovalHoldRepository,
    private readonly metrics: StorageMetrics,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }

  /** Removes objects of one project; no row may refer to them any longer. */
  removeLater(addresses: readonly ObjectAddress[]): void {
    const [first] = addresses;
    if (!first) return;
    this.runLater(`${addresses.length} objects`, first.projectId, async () => {
      await this.hold.assertFree(first.projectId);
      await this.store.remove(addresses);
    });
  }

  /** @param subject for the log */
  runLater(subject: string, projectId: string, remove: () => Promise<void>): void {
    const full = (): Error => new Error('too many removals are running');
    const work = this.slots.use(remove, full, projectId).then(
      () => this.metrics.removal('done'),
      (error: unknown) => {
        this.metrics.removal('left');
        this.logger.warn(`${subject} of project ${projectId} are left to the sweep: ${String(error)}`);
      },
    );
    this.running.add(work);
    void work.then(() => this.running.delete(work));
  }
}
