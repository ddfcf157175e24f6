/**
 * Checks the bearer token that a company's directory sends: the installation's token on the path for staff, and a project's token
 * on a path of that project.
 */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Checks } from '../../access/access-rule';
import { AdmissionGuard } from '../../access/admission.guard';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { originOf } from '../../identity/http/current-origin.decorator';
import { hashToken } from '../../identity/secret-token';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { STAFF_GUESSES } from '../../staff/accounts/staff-member';
import { scimTokenInvalid } from '../scim.errors';
import { ScimRepository } from '../scim.repository';
import { StaffDirectory } from '../staff-directory.service';
import { UserDirectories } from '../user-directory.service';

@Injectable()
@Checks('scim_token')
export class ScimGuard implements CanActivate {
  constructor(
    private readonly tokens: ScimRepository,
    private readonly staff: StaffDirectory,
    private readonly users: UserDirectories,
    private readonly projects: ProjectRegistry,
    private readonly admission: AdmissionGuard,
    private readonly throttle: GuessThrottle,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request<{ project_slug?: string }>>();
    http.getResponse<Response>().setHeader('Content-Type', 'application/scim+json; charset=utf-8');
    const { project_slug: slug } = request.params;
    const project = slug === undefined ? null : await this.projects.findBySlug(slug);
    const [, token] = /^Bearer +([\x21-\x7e]{1,200})$/i.exec(request.get('authorization') ?? '') ?? [];
    // An unknown project gets the same error as a wrong token.
    if (token === undefined || (slug !== undefined && !project)) throw scimTokenInvalid();
    const scope = project?.id ?? null;
    const origin = originOf(request as Request);
    const from = { project: project ?? STAFF_GUESSES, origin };
    const isValid = await this.throttle.attemptFrom(from, () => this.tokens.isToken(scope, hashToken(token)));
    if (!isValid) throw scimTokenInvalid();
    if (project) this.admission.admit(project, request.method);
    const directory = project ? this.users.of(project) : this.staff;
    const base = `${this.server.publicUrl}${project ? `/p/${project.slug}` : ''}/scim/v2`;
    request.scim = { scope, directory, base, origin };
    return true;
  }
}
