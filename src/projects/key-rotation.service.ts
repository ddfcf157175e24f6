/** Rotates the secrets of projects so that no process meets a signature that it does not accept yet. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor, PLINTH } from '../install/audit/audit-log.repository';
import { OwnerDatabase } from './owner-database';
import { ProjectSecret } from './project';
import { entryFor } from './project-entries';
import { ProjectFactory } from './project-factory';
import { ProjectRepository } from './project.repository';
import { ProjectKeyLists } from './project-key-lists.service';
import { ProjectSecrets } from './project-secrets';
import { noSigningKeys } from './projects.errors';
import { ProjectsService } from './projects.service';
import { SigningKeysService } from './signing-keys.service';

/** Lifetime of a secret whose rotation was interrupted, in milliseconds: longer than a rotation plus clock skew. */
const INTRODUCTION_MS = 600_000;

/** The outcome of a rotation. */
interface RotatedProject {
  readonly id: string;
  readonly slug: string;
  readonly secret: ProjectSecret;
}

@Injectable()
export class KeyRotationService {
  constructor(
    private readonly service: ProjectsService,
    private readonly projects: ProjectRepository,
    private readonly factory: ProjectFactory,
    private readonly secrets: ProjectSecrets,
    private readonly owner: OwnerDatabase,
    private readonly signing: SigningKeysService,
    private readonly lists: ProjectKeyLists,
    private readonly clock: Clock,
  ) {}

  /**
   * Gives the project new secrets for signing. Old keys, tokens and storage URLs stay valid for the grace
   * period. No process signs with the new secrets until every process accepts their signatures. The owner
   * role of the database gets a new password immediately, and its sessions end.
   * @param graceSeconds 0 invalidates the old secrets immediately
   * @param endsNamed S3 keys and named keys end with the grace period, too
   */
  async rotate(
    id: string,
    graceSeconds: number,
    actor: Actor = PLINTH,
    endsNamed = false,
  ): Promise<RotatedProject> {
    const { slug } = await this.service.get(id);
    const signing = await this.signing.advance(id, graceSeconds);
    await this.owner.rotatePassword(id, null);
    const secret = this.factory.newSecret(id);
    await this.projects.introduceSecret(secret, new Date(this.clock.now() + INTRODUCTION_MS));
    await this.signing.awaitReplicas(id);
    const now = this.clock.now();
    const end = now + graceSeconds * 1000;
    await this.projects.rotateSecret(
      secret,
      { now: new Date(now), oldExpireAt: new Date(end) },
      entryFor('project.keys.rotate', actor, id, {
        grace_seconds: graceSeconds,
        ...(endsNamed ? { end_named_keys: true } : {}),
      }),
      (before) => ({
        signingKeys: signing(before),
        ...(endsNamed ? this.lists.ending(before, end) : {}),
      }),
    );
    // Awaited before the response, so that every process accepts the new keys and, without a grace period, refuses the old keys.
    await this.signing.awaitReplicas(id);
    return { id, slug, secret: this.secrets.openSigning(secret) };
  }

  /**
   * Rotates only the key pair that signs users' tokens. The next key, which is published already, takes its place.
   * @throws AppError 409 if the project's secret signs the tokens
   */
  async rotateSigningKeys(id: string, graceSeconds: number, actor: Actor): Promise<void> {
    const signing = await this.signing.advance(id, graceSeconds);
    if ((await this.service.get(id)).signingKeys === null) throw noSigningKeys();
    const details = { grace_seconds: graceSeconds, only: 'signing_keys' };
    await this.projects.changeSigningKeys(id, entryFor('project.keys.rotate', actor, id, details), signing);
    await this.signing.awaitReplicas(id);
  }
}
