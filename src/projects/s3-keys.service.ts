/** Creates and deletes the key pairs of the S3 protocol. A secret is shown once. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor } from '../install/audit/audit-log.repository';
import { isKeyValid, ProjectKeyLists } from './project-key-lists.service';
import { KeyUses } from './key-uses.repository';
import { ProjectRegistry } from './project-registry.service';
import { newS3Key, type S3Key, type S3KeyRights } from './s3-keys';

@Injectable()
export class S3KeysService {
  constructor(
    private readonly lists: ProjectKeyLists,
    private readonly registry: ProjectRegistry,
    private readonly uses: KeyUses,
    private readonly clock: Clock,
  ) {}

  /** Lists the keys with the times of their last use, which are up to a minute late. @throws AppError 404 for an unknown project */
  async list(projectId: string): Promise<{ key: S3Key; lastUsedAt: Date | null }[]> {
    const { s3Keys } = await this.registry.get(projectId);
    const uses = await this.uses.of(projectId);
    return s3Keys
      .filter((key) => isKeyValid(key, this.clock.now()))
      .map((key) => ({ key, lastUsedAt: uses.get(key.id) ?? null }));
  }

  /** Creates a key. Every process accepts it when this resolves. @throws AppError 404 for an unknown project, 409 for too many keys */
  async create(projectId: string, rights: S3KeyRights, actor: Actor): Promise<S3Key> {
    const key = newS3Key(projectId, rights, this.clock.now());
    await this.lists.add('s3-keys', projectId, key, entryOf('project.s3_key.create', actor, key.id));
    return key;
  }

  /** Deletes a key. No process accepts it when this resolves. @throws AppError 404 for an unknown key */
  async remove(projectId: string, keyId: string, actor: Actor): Promise<void> {
    await this.lists.remove('s3-keys', projectId, keyId, entryOf('project.s3_key.remove', actor, keyId));
  }
}

const entryOf = (action: string, actor: Actor, keyId: string) => ({
  action,
  actor,
  details: { access_key_id: keyId.slice(0, 64) },
});
