/** The lists of keys that are stored, encrypted, in the row of a project. Each is read with the project. */
import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../common/text/json';
import { Actor } from '../install/audit/audit-log.repository';
import { entryFor } from './project-entries';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { projectNotFound } from './projects.errors';
import { SigningKeysService } from './signing-keys.service';

const COLUMNS = { 's3-keys': 's3Keys', 'api-keys': 'apiKeys' } as const;

interface Change {
  readonly action: string;
  readonly actor: Actor;
  readonly details: JsonObject;
}

@Injectable()
export class ProjectKeyLists {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly secrets: ProjectSecrets,
    private readonly signing: SigningKeysService,
  ) {}

  /** Every process knows the changed list when this resolves. @throws AppError 404, and what `changed` throws */
  async change<K>(
    kind: keyof typeof COLUMNS,
    projectId: string,
    { action, actor, details }: Change,
    changed: (keys: readonly K[]) => readonly K[],
  ): Promise<void> {
    const column = COLUMNS[kind];
    const project = await this.projects.update(
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
