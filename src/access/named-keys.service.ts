/** Verifies the named keys of projects, as `apikey` and as bearer. */
import { Injectable } from '@nestjs/common';
import { type ApiKey, isTextOf, readApiKey } from '../projects/api-keys';
import { KeyUses } from '../projects/key-uses.repository';
import { ANON_ROLE, KEY_ISSUER, SERVICE_ROLE } from '../projects/project-keys';
import { isKeyValid } from '../projects/project-key-lists.service';
import type { Project } from '../projects/project';
import { ProjectRegistry } from '../projects/project-registry.service';
import { Clock } from '../common/time/clock';
import { invalidCredentials, untimelyCredentials } from './access.errors';
import type { Caller } from './caller';
import type { VerifiedApiKey } from './strategies/api-key.strategy';

@Injectable()
export class NamedKeys {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly uses: KeyUses,
    private readonly clock: Clock,
  ) {}

  /** Null for a token that is not a named key. @throws AppError 401 */
  async asApiKey(token: string): Promise<VerifiedApiKey | null> {
    const ids = readApiKey(token);
    if (!ids) return null;
    const project = await this.registry.findById(ids.projectId);
    if (!project) throw invalidCredentials();
    const named = this.verify(project, ids.id, token);
    // Unlike service_role, the role of a named key does not extend to another bearer.
    const role = named.role === SERVICE_ROLE ? SERVICE_ROLE : ANON_ROLE;
    return { project, role, claims: {}, named };
  }

  /** Null for a token that is not a named key. @throws AppError 401 */
  asCaller({ project, role }: VerifiedApiKey, token: string): Caller | null {
    const ids = readApiKey(token);
    if (!ids) return null;
    const named = this.verify(project, ids.id, token);
    const { id: key_id, role: ownRole } = named;
    const tokenClaims = { iss: KEY_ISSUER, project_id: project.id, ref: project.slug, role: ownRole, key_id };
    return Object.freeze({
      project,
      database: project.database,
      role: role === SERVICE_ROLE ? SERVICE_ROLE : ownRole,
      claims: JSON.stringify(tokenClaims),
      tokenClaims,
      userId: null,
      sessionId: null,
      readOnly: false,
      named,
    });
  }

  noteUse(project: Project, named: ApiKey | undefined): void {
    if (named) this.uses.note(project.id, named.id);
  }

  private verify(project: Project, id: string, token: string): ApiKey {
    const key = project.apiKeys.find((one) => one.id === id);
    if (!key || !isTextOf(key, token)) throw invalidCredentials();
    if (!isKeyValid(key, this.clock.now())) throw untimelyCredentials();
    return key;
  }
}
