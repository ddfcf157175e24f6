/** The plan's limit on storage requests: per project and minute, shared by all replicas. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { RateCounter, RateHit } from '../infra/coordination/rate-counter';
import { STORAGE_REQUESTS_PER_MINUTE } from '../projects/plans';
import { Project } from '../projects/project';

const WINDOW_MS = 60_000;

export interface RateState extends RateHit {
  /** Requests per minute that the project may make. */
  readonly limit: number;
  /** Seconds until the window ends. */
  readonly retryAfter: number;
}

@Injectable()
export class StorageRateLimiter {
  constructor(
    private readonly counter: RateCounter,
    private readonly clock: Clock,
  ) {}

  /** Counts a request of the project. */
  async hit(project: Project): Promise<RateState> {
    const limit = limitOf(project);
    return this.stateOf(limit, await this.counter.hit(keyOf(project), limit, WINDOW_MS));
  }

  /** The rate state for a response to a request that does not count. */
  async peek(project: Project): Promise<RateState> {
    const limit = limitOf(project);
    return this.stateOf(limit, await this.counter.peek(keyOf(project), limit, WINDOW_MS));
  }

  /** Counts a preview of a missing file against its client. The limit is that of the project. */
  async miss(project: Project, client: string): Promise<RateState> {
    const limit = limitOf(project);
    return this.stateOf(limit, await this.counter.hit(missKeyOf(project, client), limit, WINDOW_MS));
  }

  /** Whether the client may still request previews that do not exist. */
  async mayMiss(project: Project, client: string): Promise<boolean> {
    const { remaining } = await this.counter.peek(missKeyOf(project, client), limitOf(project), WINDOW_MS);
    return remaining > 0;
  }

  private stateOf(limit: number, hit: RateHit): RateState {
    return { ...hit, limit, retryAfter: (hit.resetAt - this.clock.now()) / 1000 };
  }
}

/** The project's setting, or the plan's limit. */
function limitOf({ plan, settings }: Project): number {
  return settings.storage_requests_per_minute ?? STORAGE_REQUESTS_PER_MINUTE[plan];
}

const keyOf = ({ id }: Project): string => `storage:${id}`;
const missKeyOf = ({ id }: Project, client: string): string => `storage-miss:${id}:${client}`;
