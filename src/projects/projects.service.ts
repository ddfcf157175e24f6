/**
 * Creates, changes and deletes projects. Creation and deletion pass through a status in the platform database, so that
 * a crash at any moment leaves something that the next start finishes or undoes (recoverUnfinished).
 */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../common/time/clock';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { randomId, randomSecret } from '../infra/crypto/random';
import { Plan } from './plans';
import { Project } from './project';
import { ProjectEntity, ProjectSecretEntity } from './project.entity';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { mergeSettings, ProjectSettingsInput } from './project-settings';
import { invalidSlug, projectNotFound, slugTaken } from './projects.errors';
import { DatabaseProvisioner } from './provisioning/database-provisioner';
import { DatabaseServer } from './provisioning/database-server';

const SLUG = /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/;
const UNIQUE_VIOLATION = '23505';

export interface NewProject {
  readonly name: string;
  /** Default: made from the name, with a suffix where that is taken. */
  readonly slug?: string;
  readonly plan?: Plan;
  readonly settings?: ProjectSettingsInput;
  /** Admin URL of another PostgreSQL server that shall hold the project's database. */
  readonly databaseUrl?: string;
}

export interface ProjectChange {
  readonly name?: string;
  readonly plan?: Plan;
  readonly settings?: ProjectSettingsInput;
}

@Injectable()
export class ProjectsService {
  private readonly logger = new Logger(ProjectsService.name);

  constructor(
    private readonly projects: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly provisioner: DatabaseProvisioner,
    private readonly secrets: ProjectSecrets,
    private readonly clock: Clock,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Creates a project with its database, roles and keys; complete when it resolves, nothing half made when it rejects.
   * @throws AppError 400 for a malformed slug, 409 for a taken one
   */
  async create(input: NewProject): Promise<Project> {
    if (input.slug !== undefined && !SLUG.test(input.slug)) throw invalidSlug();
    const entity = this.newEntity(input);
    let created = false;
    await this.projects.whileLocked(entity.id, async () => {
      await this.reserve(entity, input.slug === undefined);
      try {
        await this.provision(entity);
        created = true;
      } catch (error) {
        await this.undo(entity);
        throw error;
      }
    });
    const project = created ? await this.registry.findById(entity.id) : null;
    if (!project) throw new Error(`project ${entity.id} is not there after its creation`);
    return project;
  }

  async list(): Promise<ProjectEntity[]> {
    return this.projects.listActive();
  }

  /** @throws AppError 404 */
  async get(id: string): Promise<ProjectEntity> {
    const row = await this.projects.findActive({ id });
    if (!row) throw projectNotFound();
    return row.project;
  }

  /** @throws AppError 404 */
  async update(id: string, change: ProjectChange): Promise<ProjectEntity> {
    const entity = await this.get(id);
    const settings = change.settings ? mergeSettings(entity.settings, change.settings) : entity.settings;
    if ((settings.auto_rls ?? true) !== (entity.settings.auto_rls ?? true)) {
      await this.provisioner.setAutoRls(
        this.serverOf(entity),
        entity.databaseName,
        settings.auto_rls ?? true,
      );
    }
    await this.projects.update(id, {
      ...(change.name === undefined ? {} : { name: change.name }),
      ...(change.plan === undefined ? {} : { plan: change.plan }),
      settings,
    });
    this.registry.forget(id);
    return this.get(id);
  }

  /** Deletes a project, its database and its roles. @throws AppError 404 */
  async remove(id: string): Promise<void> {
    const entity = await this.get(id);
    await this.projects.whileLocked(id, async () => {
      await this.projects.update(id, { status: 'deleting' });
      this.registry.forget(id);
      await this.undo(entity);
    });
  }

  /**
   * Gives the project a new secret that signs from now on; the old keys and tokens hold for the grace period.
   * @param graceSeconds 0 ends them at once
   */
  async rotateKeys(id: string, graceSeconds: number): Promise<Project> {
    await this.get(id);
    await this.projects.rotateSecret(this.newSecret(id), new Date(this.clock.now() + graceSeconds * 1000));
    this.registry.forget(id);
    const project = await this.registry.findById(id);
    if (!project) throw projectNotFound();
    return project;
  }

  /** Undoes creations and finishes deletions that a crash interrupted. Skips those that another process works on. */
  async recoverUnfinished(): Promise<void> {
    for (const entity of await this.projects.listUnfinished()) {
      await this.projects.whileLocked(entity.id, async () => {
        const stillThere = (await this.projects.listUnfinished()).some(({ id }) => id === entity.id);
        if (!stillThere) return;
        this.logger.log(`removing what is left of project ${entity.slug} (${entity.status})`);
        await this.undo(entity);
      });
    }
  }

  /** The server that holds a project's database. */
  serverOf(entity: ProjectEntity): DatabaseServer {
    const url = entity.serverUrl && this.secrets.open('server-url', entity.id, entity.serverUrl);
    return new DatabaseServer(url ?? this.platformUrl);
  }

  private async provision(entity: ProjectEntity): Promise<void> {
    await this.provisioner.create(this.serverOf(entity), {
      database: entity.databaseName,
      ownerRole: entity.ownerRole,
      ownerPassword: this.secrets.open('owner-password', entity.id, entity.ownerPassword),
      loginRole: entity.loginRole,
      loginPassword: this.secrets.open('login-password', entity.id, entity.loginPassword),
    });
    if (entity.settings.auto_rls === false) {
      await this.provisioner.setAutoRls(this.serverOf(entity), entity.databaseName, false);
    }
    await this.projects.activate(entity.id, this.newSecret(entity.id));
    this.registry.forget(entity.id);
  }

  private async undo(entity: ProjectEntity): Promise<void> {
    await this.provisioner.drop(this.serverOf(entity), {
      database: entity.databaseName,
      ownerRole: entity.ownerRole,
      loginRole: entity.loginRole,
    });
    await this.projects.remove(entity.id);
  }

  private async reserve(entity: ProjectEntity, slugIsFree: boolean): Promise<void> {
    const base = entity.slug;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.projects.insert(entity);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
        if (!slugIsFree || attempt > 5) throw slugTaken(entity.slug);
        entity.slug = `${base.slice(0, 34)}-${randomId().slice(0, 5)}`;
      }
    }
  }

  private newEntity(input: NewProject): ProjectEntity {
    const id = randomId();
    const entity = new ProjectEntity();
    return Object.assign(entity, {
      id,
      slug: input.slug ?? slugOf(input.name),
      name: input.name,
      plan: input.plan ?? 'free',
      status: 'provisioning' as const,
      settings: mergeSettings({}, input.settings ?? {}),
      serverUrl: input.databaseUrl ? this.secrets.seal('server-url', id, input.databaseUrl) : null,
      databaseName: `plinth_${id}`,
      ownerRole: `plinth_${id}_owner`,
      loginRole: `plinth_${id}_login`,
      ownerPassword: this.secrets.seal('owner-password', id, randomSecret()),
      loginPassword: this.secrets.seal('login-password', id, randomSecret()),
      storageSecret: this.secrets.seal('storage-secret', id, randomSecret()),
      schemaVersion: '',
    });
  }

  private newSecret(projectId: string): ProjectSecretEntity {
    return Object.assign(new ProjectSecretEntity(), {
      projectId,
      kid: randomId(),
      secret: this.secrets.seal('jwt-secret', projectId, randomSecret()),
      createdAt: new Date(this.clock.now()),
      expiresAt: null,
    });
  }
}

/** `Acme GmbH & Co.` to `acme-gmbh-co`. */
function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return SLUG.test(plain) ? plain : `project-${randomId().slice(0, 8)}`;
}
