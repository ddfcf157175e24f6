/** The lists of keys that are stored, encrypted, in the row of a project. Each is read with the project, so it has a limit. */
import { Injectable } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import type { JsonObject } from '../common/text/json';
import { Actor } from '../install/audit/audit-log.repository';
import { entryFor } from './project-entries';
import type { ProjectEntity } from './project.entity';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { keyNotFound, projectNotFound, tooManyKeys } from './projects.errors';
import { SigningKeysService } from './signing-keys.service';

export const MAX_KEYS = 100;

const COLUMNS = { 's3-keys': 's3Keys', 'api-keys': 'apiKeys' } as const;
type Kind = keyof typeof COLUMNS;
type Columns = Pick<ProjectEntity, (typeof COLUMNS)[Kind]>;

interface Key {
  readonly id: string;
  /** Milliseconds since the epoch. Null or absent: it does not expire. */
  readonly expires_at?: number | null;
}

interface Entry {
  readonly action: string;
  readonly actor: Actor;
  readonly details: JsonObject;
}

export const isKeyValid = ({ expires_at }: Pick<Key, 'expires_at'>, now: number): boolean =>
  (expires_at ?? Infinity) > now;

@Injectable()
export class ProjectKeyLists {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly secrets: ProjectSecrets,
    private readonly signing: SigningKeysService,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds a key and removes expired keys. Every process accepts the key when this resolves.
   * @throws AppError 404 for an unknown project, 409 for too many keys
   */
  async add<K extends Key>(kind: Kind, projectId: string, key: K, entry: Entry): Promise<void> {
    await this.change<K>(kind, projectId, entry, (keys) => {
      const valid = keys.filter((one) => isKeyValid(one, this.clock.now()));
      if (valid.length >= MAX_KEYS) throw tooManyKeys(MAX_KEYS);
      return [...valid, key];
    });
  }

  /** Removes a key. No process accepts it when this resolves. @throws AppError 404 for an unknown key */
  async remove(kind: Kind, projectId: string, keyId: string, entry: Entry): Promise<void> {
    await this.change(kind, projectId, entry, (keys) => {
      const rest = keys.filter(({ id }) => id !== keyId);
      if (rest.length === keys.length) throw keyNotFound();
      return rest;
    });
  }

  /**
   * The columns with the project's keys, changed so that all keys expire at `end` at the latest.
   * @param end milliseconds since the epoch
   */
  ending(project: ProjectEntity, end: number): Columns {
    const ended = (kind: Kind): Buffer | null => {
      const keys = this.secrets.openList<Key>(kind, project.id, project[COLUMNS[kind]]);
      const until = keys.map((key) => ({ ...key, expires_at: Math.min(key.expires_at ?? Infinity, end) }));
      const valid = until.filter((key) => isKeyValid(key, this.clock.now()));
      return this.secrets.sealList(kind, project.id, valid);
    };
    return { s3Keys: ended('s3-keys'), apiKeys: ended('api-keys') };
  }

  private async change<K extends Key>(
    kind: Kind,
    projectId: string,
    { action, actor, details }: Entry,
    changed: (keys: readonly K[]) => readonly K[],
  ): Promise<void> {
    const column = COLUMNS[kind];
    const project = await this.projects.updateProject(
      projectId,
      () => entryFor(action, actor, projectId, details),
      (before) => {
        const keys = changed(this.secrets.openList<K>(kind, projectId, before[column]));
        return { [column]: this.secrets.sealList(kind, projectId, keys) };
      },
      () => Promise.resolve(),
    );
    if (!project) throw projectNotFound();
    await this.signing.awaitReplicas(projectId);
  }
}
