/** Creates and revokes the named keys of projects. The text of a key is shown once. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor } from '../install/audit/audit-log.repository';
import { type ApiKey, type ApiKeyRights, newApiKey } from './api-keys';
import { KeyUses } from './key-uses.repository';
import { OwnerDatabase } from './owner-database';
import { ProjectKeyLists } from './project-key-lists.service';
import { ProjectRegistry } from './project-registry.service';
import { projectNotFound, unknownRole } from './projects.errors';

@Injectable()
export class ApiKeysService {
  constructor(
    private readonly lists: ProjectKeyLists,
    private readonly registry: ProjectRegistry,
    private readonly uses: KeyUses,
    private readonly owner: OwnerDatabase,
    private readonly clock: Clock,
  ) {}

  /** Lists the keys with the times of their last use, which are up to a minute late. @throws AppError 404 for an unknown project */
  async list(projectId: string): Promise<{ key: ApiKey; lastUsedAt: Date | null }[]> {
    const { apiKeys } = await this.registry.get(projectId);
    const uses = await this.uses.of(projectId);
    return apiKeys.map((key) => ({ key, lastUsedAt: uses.get(key.id) ?? null }));
  }

  /**
   * Creates a key. Every process accepts it when this resolves.
   * @throws AppError 400 for a role that requests cannot have, 404 for an unknown project, 409 for too many keys
   */
  async create(
    projectId: string,
    rights: ApiKeyRights,
    actor: Actor,
  ): Promise<{ key: ApiKey; text: string }> {
    await this.assertRole(projectId, rights.role);
    const made = newApiKey(projectId, rights, this.clock.now());
    const { kind, name, role } = rights;
    const details = { key_id: made.key.id, kind, name, role };
    const entry = { action: 'project.api_key.create', actor, details };
    await this.lists.add('api-keys', projectId, made.key, entry);
    return made;
  }

  /** Revokes a key. No process accepts it when this resolves. @throws AppError 404 for an unknown key */
  async revoke(projectId: string, keyId: string, actor: Actor): Promise<void> {
    const details = { key_id: keyId.slice(0, 64) };
    const entry = { action: 'project.api_key.revoke', actor, details };
    await this.lists.remove('api-keys', projectId, keyId, entry);
  }

  /** Reports an unsuitable role early; the database checks the role again at each request. */
  private async assertRole(projectId: string, role: string): Promise<void> {
    const project = await this.owner.find(projectId);
    if (!project) throw projectNotFound();
    const isKnown = await this.owner.use(project, 'which roles requests may have', async (client) => {
      const { rows } = await client.query<{ known: boolean }>(
        `select pg_catalog.pg_has_role(l.oid, r.oid, 'member') as known
         from pg_catalog.pg_roles r, pg_catalog.pg_roles l
         where r.rolname = $1 and l.rolname = $2 and r.oid <> l.oid`,
        [role, project.loginRole],
      );
      return rows[0]?.known === true;
    });
    if (!isKnown) throw unknownRole(role);
  }
}
