/** Like ApiKeyGuard, but a request without an apikey has the public key of the project in its path: for clients that know no such header. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ANON_ROLE, projectKey } from '../projects/project-keys';
import { projectNotFound } from '../projects/projects.errors';
import { ApiKeyGuard } from './api-key.guard';

@Injectable()
export class PathKeyGuard extends ApiKeyGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.get('apikey') === undefined) {
      const { project_slug: slug } = request.params;
      const project = typeof slug === 'string' ? await this.registry.findBySlug(slug) : null;
      if (!project) throw projectNotFound();
      request.headers.apikey = projectKey(project, project.secrets[0], ANON_ROLE);
    }
    return super.canActivate(context);
  }
}
