/**
 * Who may use the storage: apikey, then bearer, then the plan's rate. One guard, because every answer carries the rate's
 * headers, a refusal's too, and what is refused for its credentials must not cost the project a request (docs/storage.md).
 */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { lingerAfterAnswer } from '../../common/http/linger';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StorageRateLimiter } from '../rate-limit/storage-rate-limiter';
import { setRateHeaders } from './rate-headers';

@Injectable()
export class StorageAccessGuard implements CanActivate {
  constructor(
    private readonly apiKey: ApiKeyGuard,
    private readonly bearer: BearerGuard,
    private readonly limiter: StorageRateLimiter,
    private readonly registry: ProjectRegistry,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    lingerAfterAnswer(request, response);
    try {
      await this.apiKey.canActivate(context);
      await this.bearer.canActivate(context);
    } catch (error) {
      await this.tellRate(request, response);
      throw error;
    }
    const state = await this.limiter.hit((request.apiKey as { project: Project }).project);
    setRateHeaders(response, state);
    if (!state.allowed) throw rateLimited(state.retryAfter);
    return true;
  }

  /** The rate of the project that the path names, uncounted. */
  private async tellRate(request: Request, response: Response): Promise<void> {
    const slug = request.params.project_slug;
    const project = typeof slug === 'string' ? await this.registry.findBySlug(slug) : null;
    if (project) setRateHeaders(response, await this.limiter.peek(project));
  }
}
