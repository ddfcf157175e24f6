/** The project of a request without an apikey, which counts as one of the project's requests. */
import { Injectable } from '@nestjs/common';
import { AdmissionGuard } from '../../../access/admission.guard';
import type { Project } from '../../../projects/project';
import { ProjectRegistry } from '../../../projects/project-registry.service';
import { projectNotFound } from '../../../projects/projects.errors';

@Injectable()
export class PublicProjects {
  constructor(
    private readonly projects: ProjectRegistry,
    private readonly admission: AdmissionGuard,
  ) {}

  /** @param method `POST` for a request that writes, whatever its own method @throws AppError 404, 503 */
  async admit(slug: string, method: 'GET' | 'POST'): Promise<Project> {
    const project = await this.projects.findBySlug(slug);
    if (!project) throw projectNotFound();
    this.admission.admit(project, method);
    return project;
  }
}
