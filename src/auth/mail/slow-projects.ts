/**
 * Projects whose database kept a mail worker waiting: their mails rest for a while, or the mails of all others would wait
 * behind them. An owner can lock the tables that mails are in, or have a trigger sleep there.
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

/** Milliseconds of one statement, which takes about one. */
const SLOW_MS = 2_000;
const REST_MS = 30_000;
const REMEMBERED_PROJECTS = 5_000;

@Injectable()
export class SlowProjects {
  private readonly resting = new LRUCache<string, true>({ max: REMEMBERED_PROJECTS, ttl: REST_MS });

  isResting(projectId: string): boolean {
    return this.resting.has(projectId);
  }

  /** @param tookMs milliseconds that a statement in the project's database took */
  measured(projectId: string, tookMs: number): void {
    if (tookMs >= SLOW_MS) this.resting.set(projectId, true);
  }
}
