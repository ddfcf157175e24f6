/** The three rate limit headers of every storage response, including responses to refused and malformed requests. */
import { Injectable, Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { rateLimited } from '../../access/access.errors';
import { Clock } from '../../common/time/clock';
import { decodedOrSame } from '../../http/syntax/percent-encoding';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { RateState, StorageRateLimiter } from '../../limits/storage-rate-limiter';

const LIMIT = 'X-RateLimit-Limit';
const SLUG = /^\/p\/([^/]*)\/storage(?:\/|$)/;

type RateFacts = Pick<RateState, 'limit' | 'remaining' | 'resetAt'>;

function setRateHeaders(response: ServerResponse, { limit, remaining, resetAt }: RateFacts): void {
  response.setHeader(LIMIT, String(limit));
  response.setHeader('X-RateLimit-Remaining', String(remaining));
  response.setHeader('X-RateLimit-Reset', String(Math.ceil(resetAt / 1000)));
}

/** Counts a request against the plan of its project, and sets the headers. @throws AppError 429 above the rate limit */
export async function countRequest(
  limiter: StorageRateLimiter,
  project: Project,
  response: ServerResponse,
): Promise<void> {
  const state = await limiter.hit(project);
  setRateHeaders(response, state);
  if (!state.allowed) throw rateLimited(state.retryAfter);
}

@Injectable()
export class RateHeaders {
  private readonly logger = new Logger(RateHeaders.name);

  constructor(
    private readonly limiter: StorageRateLimiter,
    private readonly registry: ProjectRegistry,
    private readonly clock: Clock,
  ) {}

  /** Adds the headers to a response whose request was not counted. @param path of the request, undecoded */
  async complete(path: string, response: ServerResponse): Promise<void> {
    if (response.hasHeader(LIMIT)) return;
    setRateHeaders(response, await this.stateOf(path));
  }

  /** All values are zero if the project, or its count, is unknown. */
  private async stateOf(path: string): Promise<RateFacts> {
    const unknown = { limit: 0, remaining: 0, resetAt: this.clock.now() };
    try {
      const project = await this.projectOf(path);
      return project ? await this.limiter.peek(project) : unknown;
    } catch (error) {
      this.logger.warn(`the rate of a project is unknown: ${String(error)}`);
      return unknown;
    }
  }

  private async projectOf(path: string): Promise<Project | null> {
    const slug = SLUG.exec(path)?.[1] ?? '';
    return slug === '' ? null : this.registry.findBySlug(decodedOrSame(slug));
  }
}
