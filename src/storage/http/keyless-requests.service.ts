/**
 * Handles requests without a key: finds their project, counts them against its plan, and sends files of
 * public buckets. Throttles clients, by address, that ask for many files that do not exist.
 */
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { projectPaused } from '../../database/pools/pool.errors';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { StorageRateLimiter } from '../../limits/storage-rate-limiter';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { projectNotFound } from '../../projects/projects.errors';
import { WriteStops } from '../../projects/write-stops.service';
import { Rendition } from '../pictures/renditions.service';
import { ContentResponder } from './content-responder';
import { countRequest } from './rate-headers';

export interface PublicFile {
  /** The filename for saving; undefined if the file is to be shown. */
  readonly downloadName: string | undefined;
  readonly find: () => Promise<Rendition | null>;
}

@Injectable()
export class KeylessRequests {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly quotas: ProjectQuotas,
    private readonly limiter: StorageRateLimiter,
    private readonly responder: ContentResponder,
    private readonly stops: WriteStops,
  ) {}

  /** @throws AppError 404 for an unknown project, 503 if it is paused, or if it is being moved and the request writes */
  async projectOf({ method, params }: Request): Promise<Project> {
    const project = await this.registry.findBySlug(String(params.project_slug));
    if (!project) throw projectNotFound();
    if (project.database.isPaused) throw projectPaused();
    this.stops.assertMayWrite(method, project);
    return project;
  }

  /** Counts a request that was found to be valid. @throws AppError 429 above the plan's rate limit */
  async count(project: Project, response: Response): Promise<void> {
    this.quotas.assertMayRequest(project);
    await countRequest(this.limiter, project, response);
  }

  /** @throws AppError 404 for an unknown file, 429 above a rate limit, and the errors of ContentResponder */
  async sendPublic(
    request: Request,
    response: Response,
    project: Project,
    wanted: PublicFile,
  ): Promise<void> {
    const { find, downloadName } = wanted;
    const client = request.ip ?? '';
    if (!(await this.limiter.mayMiss(project, client)))
      throw rateLimited((await this.limiter.miss(project, client)).retryAfter);
    const file = await find();
    if (file) await this.count(project, response);
    else await this.limiter.miss(project, client);
    let first: Rendition | null | undefined = file;
    await this.responder.send(request, response, {
      route: 'preview',
      pdfInline: downloadName === undefined ? project.settings.preview_pdf_inline : undefined,
      downloadName,
      find: async () => {
        const found = first === undefined ? await find() : first;
        first = undefined;
        return found;
      },
    });
  }
}
