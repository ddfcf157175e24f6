/** Deletes expired rows of a project in use: at most once an hour, in the background. */
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/time/clock';
import { Project } from '../../projects/project';
import { HousekeepingRepository } from './housekeeping.repository';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MAIL_DAYS = 30;
const AUDIT_DAYS = 90;
const PROJECT_CACHE_SIZE = 5_000;

@Injectable()
export class HousekeepingService implements OnApplicationShutdown {
  private readonly logger = new Logger(HousekeepingService.name);
  private readonly sweptAt = new LRUCache<string, number>({ max: PROJECT_CACHE_SIZE });
  private readonly running = new Set<Promise<void>>();

  constructor(
    private readonly repository: HousekeepingRepository,
    private readonly clock: Clock,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.running);
  }

  /** For each use of the project: starts a sweep if one is due. Does not wait for it, and never fails. */
  visit(project: Project): void {
    const now = this.clock.now();
    if (now - (this.sweptAt.get(project.id) ?? 0) < HOUR_MS) return;
    this.sweptAt.set(project.id, now);
    const { anonymous_user_lifetime: lifetime } = project.settings;
    const sweep = this.repository
      .sweep(project, {
        now: new Date(now),
        auditBefore: new Date(now - AUDIT_DAYS * DAY_MS),
        mailsBefore: new Date(now - MAIL_DAYS * DAY_MS),
        anonymousBefore: lifetime === null ? null : new Date(now - lifetime * DAY_MS),
      })
      .catch((error: unknown) => this.logger.warn(`project ${project.slug}: ${String(error)}`));
    this.running.add(sweep);
    void sweep.finally(() => this.running.delete(sweep));
  }
}
