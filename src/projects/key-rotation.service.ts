/** Rotates the secrets of projects so that no process meets a signature that it does not accept yet. */
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { Actor, PLINTH } from '../install/audit/audit-log.repository';
import { MessageBus } from '../install/message-bus.service';
import { OwnerDatabase } from './owner-database';
import { ProjectSecret } from './project';
import { entryFor } from './project-entries';
import { ProjectFactory } from './project-factory';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';

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
  private readonly logger = new Logger(KeyRotationService.name);

  constructor(
    private readonly service: ProjectsService,
    private readonly projects: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly bus: MessageBus,
    private readonly factory: ProjectFactory,
    private readonly secrets: ProjectSecrets,
    private readonly owner: OwnerDatabase,
    private readonly clock: Clock,
  ) {}

  /**
   * Gives the project new secrets for signing. Old keys, tokens and storage URLs stay valid for the grace period. No
   * process signs with the new secrets until every process accepts their signatures.
   * The owner role of the database gets a new password at once, and its sessions end.
   * @param graceSeconds 0 invalidates the old secrets at once
   */
  async rotate(id: string, graceSeconds: number, actor: Actor = PLINTH): Promise<RotatedProject> {
    const { slug } = await this.service.get(id);
    await this.owner.rotatePassword(id, null);
    const secret = this.factory.newSecret(id);
    await this.projects.introduceSecret(secret, new Date(this.clock.now() + INTRODUCTION_MS));
    await this.awaitReplicas(id);
    const now = this.clock.now();
    await this.projects.rotateSecret(
      secret,
      { now: new Date(now), oldExpireAt: new Date(now + graceSeconds * 1000) },
      entryFor('project.keys.rotate', actor, id, { grace_seconds: graceSeconds }),
    );
    // Before the response, so that every process accepts the new keys and, without a grace period, refuses the
    // old ones.
    await this.awaitReplicas(id);
    return { id, slug, secret: this.secrets.openSigning(secret) };
  }

  /** Waits until every process knows the project's current secrets. */
  private async awaitReplicas(id: string): Promise<void> {
    this.registry.forget(id);
    if (await this.bus.allReplicasAcknowledged()) return;
    this.logger.warn(`a process did not confirm that it uses the rotated keys of project ${id}`);
  }
}
