/** Admits requests to a project that is neither paused nor moved, and within its rates and quotas. Comes after ApiKeyGuard. */
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { projectPaused } from '../database/pools/pool.errors';
import { ProjectQuotas } from '../limits/project-quotas.service';
import type { Project } from '../projects/project';
import { WriteStops } from '../projects/write-stops.service';
import { Checks } from './access-rule';
import { projectOf } from './current-caller.decorator';

@Injectable()
@Checks()
export class AdmissionGuard implements CanActivate {
  constructor(
    private readonly quotas: ProjectQuotas,
    private readonly stops: WriteStops,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    this.admit(projectOf(request), request.method);
    return true;
  }

  /** For a request without a key. @param method `GET` if it writes nothing @throws AppError 429, 503 */
  admit(project: Project, method: string): void {
    if (project.database.isPaused) throw projectPaused();
    this.quotas.assertMayRequest(project);
    this.stops.assertMayWrite(method, project);
  }
}
