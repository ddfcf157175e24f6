/** Changes the key pairs of projects so that no process or reader of the key set meets a signature by an unknown key. */
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { MessageBus } from '../install/message-bus.service';
import type { ProjectEntity } from './project.entity';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { advanceKeys, type JwtAlgorithm, newSigningKey, type StoredSigningKey } from './signing-keys';

/** The longest lifetime of an access token, plus clock skew, in milliseconds. */
const MAX_TOKEN_MS = 86_460_000;

type SigningKeysColumn = Pick<ProjectEntity, 'signingKeys'>;

@Injectable()
export class SigningKeysService {
  private readonly logger = new Logger(SigningKeysService.name);

  constructor(
    private readonly projects: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly secrets: ProjectSecrets,
    private readonly bus: MessageBus,
    private readonly clock: Clock,
  ) {}

  /**
   * Prepares a change of `jwt_algorithm`: publishes a key of the algorithm, which signs after the change is stored.
   * @param wanted undefined: no change; null: the default
   * @returns the change of the project's row
   */
  async prepare(
    id: string,
    wanted: JwtAlgorithm | null | undefined,
  ): Promise<(before: ProjectEntity) => Partial<SigningKeysColumn>> {
    if (wanted === undefined || !(await this.projects.exists(id))) return () => ({});
    const algorithm = wanted ?? 'HS256';
    if (algorithm === 'HS256') return (before) => this.advanced(before, null, MAX_TOKEN_MS);
    const [next, afterNext] = await Promise.all([
      newSigningKey(algorithm, 'next', this.clock.now()),
      newSigningKey(algorithm, 'next', this.clock.now()),
    ]);
    await this.projects.changeSigningKeys(id, null, (project) => {
      const keys = this.open(project);
      if (currentOf(keys)?.algorithm === algorithm || nextOf(keys)?.algorithm === algorithm)
        return project.signingKeys;
      return this.secrets.sealList('signing-keys', id, [
        ...keys.filter(({ status }) => status !== 'next'),
        next,
      ]);
    });
    await this.awaitReplicas(id);
    return (before) =>
      currentOf(this.open(before))?.algorithm === algorithm
        ? {}
        : this.advanced(before, afterNext, MAX_TOKEN_MS);
  }

  /** Prepares a rotation. @returns the changed column; null for a project without key pairs */
  async advance(id: string, graceSeconds: number): Promise<(before: ProjectEntity) => Buffer | null> {
    const { settings } = await this.registry.get(id);
    const { jwt_algorithm: algorithm } = settings;
    if (algorithm === 'HS256') return ({ signingKeys }) => signingKeys;
    const next = await newSigningKey(algorithm, 'next', this.clock.now());
    return (before) => this.advanced(before, next, graceSeconds * 1_000).signingKeys;
  }

  /** Waits until every process knows the project's current keys. */
  async awaitReplicas(id: string): Promise<void> {
    this.registry.forget(id);
    if (await this.bus.allReplicasAcknowledged()) return;
    this.logger.warn(`a process did not confirm that it uses the rotated keys of project ${id}`);
  }

  private advanced(before: ProjectEntity, next: StoredSigningKey | null, graceMs: number): SigningKeysColumn {
    const now = this.clock.now();
    const keys = advanceKeys(this.open(before), next, { now, expiresAt: now + graceMs });
    return { signingKeys: this.secrets.sealList('signing-keys', before.id, keys) };
  }

  private open({ id, signingKeys }: ProjectEntity): StoredSigningKey[] {
    return this.secrets.openList('signing-keys', id, signingKeys);
  }
}

const currentOf = (keys: readonly StoredSigningKey[]): StoredSigningKey | undefined =>
  keys.find(({ status }) => status === 'current');
const nextOf = (keys: readonly StoredSigningKey[]): StoredSigningKey | undefined =>
  keys.find(({ status }) => status === 'next');
