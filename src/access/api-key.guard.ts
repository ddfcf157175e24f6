/** Admits requests with a valid key of the project that the path names. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { Project } from '../projects/project';
import { projectNotFound } from '../projects/projects.errors';
import { ProjectRegistry } from '../projects/project-registry.service';
import { Checks } from './access-rule';
import { invalidCredentials, missingApiKey } from './access.errors';
import { ApiKeyStrategy, LookupFailure, VerifiedApiKey } from './strategies/api-key.strategy';
import { guardOptions } from './strategies/verification';
import { NamedKeys } from './named-keys.service';
import { VerifiedCredentials } from './verified-credentials';

@Injectable()
@Checks('apikey')
export class ApiKeyGuard extends AuthGuard() {
  constructor(
    protected readonly registry: ProjectRegistry,
    private readonly verified: VerifiedCredentials,
    private readonly named: NamedKeys,
    strategy: ApiKeyStrategy,
  ) {
    super(guardOptions('apiKey', strategy));
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const token = request.get('apikey');
    if (!token) throw missingApiKey();
    const key = this.verified.findKey(token) ?? (await this.verify(context, token));
    request.apiKey = key;
    this.named.noteUse(key.project, key.named);
    if (!isPathOf(request, key)) await this.refusePath(request, key);
    return true;
  }

  private async verify(context: ExecutionContext, token: string): Promise<VerifiedApiKey> {
    const known = await this.verified.findKeyAgain(token);
    if (known) return known;
    const key = (await this.named.asApiKey(token)) ?? (await this.verifyToken(context));
    this.verified.rememberKey(token, key);
    return key;
  }

  private async verifyToken(context: ExecutionContext): Promise<VerifiedApiKey> {
    await super.canActivate(context);
    const key = context.switchToHttp().getRequest<Request>().apiKey;
    if (!key) throw invalidCredentials();
    return key;
  }

  override handleRequest<T>(error: Error | null, apiKey: T, info: unknown): T {
    if (info instanceof LookupFailure) throw info.reason;
    if (error) throw error;
    if (!apiKey) throw invalidCredentials(info);
    return apiKey;
  }

  /** 404 for an unknown slug; 401 for a key of another project, and for any other id under /v1/auth. */
  private async refusePath({ params }: Request, { project }: VerifiedApiKey): Promise<never> {
    const { project_slug: slug, project_id: id } = params;
    if (typeof slug !== 'string' || (id !== undefined && !isNameOf(project, id))) throw invalidCredentials();
    throw (await this.registry.findBySlug(slug)) ? invalidCredentials() : projectNotFound();
  }
}

/** True unless the path names another project than the key does. */
function isPathOf(
  { params: { project_slug: slug, project_id: id } }: Request,
  { project }: VerifiedApiKey,
): boolean {
  return (id === undefined || isNameOf(project, id)) && (typeof slug !== 'string' || slug === project.slug);
}

/** Under /v1/auth a project can be named by its slug as well. */
function isNameOf({ id, slug }: Project, name: unknown): boolean {
  return name === id || name === slug;
}
