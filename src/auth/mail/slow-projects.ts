/**
 * Projects whose database kept a mail worker waiting: their mails pause for a while, or they would hold up the mails of all
 * others. An owner can lock the tables of the mails, or have a trigger sleep.
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

/** Milliseconds that one statement may take; about one is usual. */
const SLOW_MS = 2_000;
/** Milliseconds. */
const PAUSE_MS = 30_000;
const PROJECT_CACHE_SIZE = 5_000;

@Injectable()
export class SlowProjects {
  private readonly paused = new LRUCache<string, true>({ max: PROJECT_CACHE_SIZE, ttl: PAUSE_MS });

  isPaused(projectId: string): boolean {
    return this.paused.has(projectId);
  }

  /** @param tookMs milliseconds of a statement in the project's database */
  measured(projectId: string, tookMs: number): void {
    if (tookMs >= SLOW_MS) this.paused.set(projectId, true);
  }
}
