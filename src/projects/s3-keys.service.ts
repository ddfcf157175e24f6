/** Makes and ends the key pairs of the S3 protocol. A secret is shown once. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor } from '../install/audit/audit-log.repository';
import { entryFor } from './project-entries';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { projectNotFound, s3KeyNotFound, tooManyS3Keys } from './projects.errors';
import { isS3KeyValid, newS3Key, type S3Key, type S3KeyRights } from './s3-keys';
import { SigningKeysService } from './signing-keys.service';

/** Keys of a project: all of them are read with it. */
export const MAX_S3_KEYS = 100;

@Injectable()
export class S3KeysService {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly secrets: ProjectSecrets,
    private readonly signing: SigningKeysService,
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
    await this.change(projectId, actor, { action: 'project.s3_key.create', keyId: key.id }, (keys) => {
      const valid = keys.filter((one) => isS3KeyValid(one, now));
      if (valid.length >= MAX_S3_KEYS) throw tooManyS3Keys(MAX_S3_KEYS);
      return [...valid, key];
    });
    return key;
  }

  /** No process accepts it when this resolves. @throws AppError 404 */
  async remove(projectId: string, keyId: string, actor: Actor): Promise<void> {
    await this.change(projectId, actor, { action: 'project.s3_key.remove', keyId }, (keys) => {
      const rest = keys.filter(({ id }) => id !== keyId);
      if (rest.length === keys.length) throw s3KeyNotFound();
      return rest;
    });
  }

  private async change(
    projectId: string,
    actor: Actor,
    { action, keyId }: { action: string; keyId: string },
    changed: (keys: readonly S3Key[]) => readonly S3Key[],
  ): Promise<void> {
    const project = await this.projects.update(
      projectId,
      () => entryFor(action, actor, projectId, { access_key_id: keyId.slice(0, 64) }),
      ({ s3Keys }) => ({
        s3Keys: this.secrets.sealS3Keys(projectId, changed(this.secrets.openS3Keys(projectId, s3Keys))),
      }),
      () => Promise.resolve(),
    );
    if (!project) throw projectNotFound();
    await this.signing.awaitReplicas(projectId);
  }
}
