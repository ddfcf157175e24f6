/** Makes and ends the key pairs of the S3 protocol. A secret is shown once. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor } from '../install/audit/audit-log.repository';
import { ProjectKeyLists } from './project-key-lists.service';
import { ProjectRegistry } from './project-registry.service';
import { s3KeyNotFound, tooManyS3Keys } from './projects.errors';
import { isS3KeyValid, newS3Key, type S3Key, type S3KeyRights } from './s3-keys';

/** Keys of a project: all of them are read with it. */
export const MAX_S3_KEYS = 100;

@Injectable()
export class S3KeysService {
  constructor(
    private readonly lists: ProjectKeyLists,
    private readonly registry: ProjectRegistry,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 404 */
  async list(projectId: string): Promise<readonly S3Key[]> {
    const { s3Keys } = await this.registry.get(projectId);
    return s3Keys.filter((key) => isS3KeyValid(key, this.clock.now()));
  }

  /** Every process accepts it when this resolves. @throws AppError 404, 409 */
  async create(projectId: string, rights: S3KeyRights, actor: Actor): Promise<S3Key> {
    const now = this.clock.now();
    const key = newS3Key(projectId, rights, now);
    const entry = entryOf('project.s3_key.create', actor, key.id);
    await this.lists.change<S3Key>('s3-keys', projectId, entry, (keys) => {
      const valid = keys.filter((one) => isS3KeyValid(one, now));
      if (valid.length >= MAX_S3_KEYS) throw tooManyS3Keys(MAX_S3_KEYS);
      return [...valid, key];
    });
    return key;
  }

  /** No process accepts it when this resolves. @throws AppError 404 */
  async remove(projectId: string, keyId: string, actor: Actor): Promise<void> {
    const entry = entryOf('project.s3_key.remove', actor, keyId);
    await this.lists.change<S3Key>('s3-keys', projectId, entry, (keys) => {
      const rest = keys.filter(({ id }) => id !== keyId);
      if (rest.length === keys.length) throw s3KeyNotFound();
      return rest;
    });
  }
}

const entryOf = (action: string, actor: Actor, keyId: string) => ({
  action,
  actor,
  details: { access_key_id: keyId.slice(0, 64) },
});
