/**
 * Creates, changes and deletes projects. Creation and deletion pass through a status in the platform database,
 * so that ProjectUpkeep can finish or undo them after a crash at any moment.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { codeOf } from '../common/errors/error-facts';
import { JsonObject } from '../common/text/json';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { UNIQUE_VIOLATION } from '../database/sql/sqlstate';
import { Actor, AuditEntry, PLINTH } from '../install/audit/audit-log.repository';
import { withSealedSecrets } from './setting-secrets';
import { Project } from './project';
import { changedNames, entryFor, ProjectChange, undoEntry } from './project-entries';
import { ProjectEntity, ProjectSecretEntity } from './project.entity';
import { assertSlug, namesOf, NewProject, ProjectCopy, ProjectFactory, varySlug } from './project-factory';
import { ProjectRegistry } from './project-registry.service';
import { ProjectListQuery, ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { assertTokensTellApart, effectiveSettings, mergeSettings } from './project-settings';
import { SigningKeysService } from './signing-keys.service';
import {
  databaseServerUnusable,
  projectBusy,
  projectChanged,
  projectNotFound,
  slugTaken,
} from './projects.errors';
import { AdminExtension, DatabaseBlueprint, DatabaseProvisioner } from '../provisioning/database-provisioner';
import { DatabaseServer } from '../provisioning/database-server';
import { PROJECT_SCHEMA_VERSION } from '../provisioning/project-migrations';
import { TemplateDatabase } from '../provisioning/template-database';
import { ServersService } from '../servers/servers.service';

const SLUG_ATTEMPTS = 6;
/**
 * Milliseconds after which a deletion is answered while the database still exists: longer than ObstacleWatch
 * takes.
 */
const ANSWER_MS = 15_000;

/** Other creations took the last places of the server that was chosen. */
class ServerFull extends Error {}

export interface RestoreSteps {
  /** The database is created with these extensions only. */
  readonly extensions: readonly AdminExtension[];
  /** Runs while the owner has no rights on roles. */
  fill(project: ProjectEntity): Promise<void>;
  /** Runs after the owner has been given its rights. */
  complete(project: ProjectEntity): Promise<void>;
}

interface Reservation {
  /** Whether the slug is generated, so that it gets a suffix if it is taken. */
  readonly mayVary: boolean;
  /** Whether the server was chosen for its free places. */
  readonly isPlaced: boolean;
}

@Injectable()
export class ProjectsService {
  private readonly logger = new Logger(ProjectsService.name);
  private readonly answerMs = ANSWER_MS;
  private readonly restoreListeners: ((projectId: string) => Promise<void>)[] = [];

  constructor(
    private readonly projects: ProjectRepository,
    private readonly registry: ProjectRegistry,
    private readonly provisioner: DatabaseProvisioner,
    private readonly template: TemplateDatabase,
    private readonly factory: ProjectFactory,
    private readonly secrets: ProjectSecrets,
    private readonly servers: ServersService,
    private readonly signing: SigningKeysService,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  /**
   * Creates a project with its database, roles and keys. Complete when it resolves; undone when it rejects.
   * @throws AppError 400 for a malformed slug, 409 for a taken one
   */
  async create(input: NewProject, actor: Actor = PLINTH): Promise<Project> {
    const isPlaced = input.databaseUrl === undefined && input.server === undefined;
    for (;;) {
      const entity = this.factory.newProject(await this.placed(input));
      if (entity.serverUrl !== null)
        await this.assertUsable(this.serverOf(entity), input.databaseUrl !== undefined);
      await this.factory.addSigningKeys(entity);
      const kind = { mayVary: input.slug === null, isPlaced };
      try {
        return await this.build(entity, kind, () => this.provision(entity, actor));
      } catch (error) {
        // The next search finds another server, or none.
        if (!(error instanceof ServerFull)) throw error;
      }
    }
  }

  /**
   * Creates a project as a backup describes it. Complete when it resolves; undone when it rejects, or by
   * ProjectUpkeep after a crash. No request reaches it earlier.
   * @throws AppError 400 for a malformed slug, 409 for a taken id or slug
   */
  async restore(copy: ProjectCopy, steps: RestoreSteps, actor: Actor): Promise<Project> {
    const { project, secrets } = this.factory.copyOf(copy);
    await this.factory.addSigningKeys(project, copy.keys?.signingKeys);
    await this.assertFree(project);
    const restored = await this.build(project, { mayVary: false, isPlaced: false }, async () => {
      const polled = await this.fill(project, steps);
      const entry = this.entryOf(project, 'project.restore', actor, { keys_kept: copy.keys !== null });
      await this.activate(project, { polled, secrets, entry });
    });
    await Promise.all(this.restoreListeners.map((listener) => listener(project.id)));
    return restored;
  }

  /** @param listener is called after each restore in this process: the project may contain data that another feature follows */
  onRestored(listener: (projectId: string) => Promise<void>): void {
    this.restoreListeners.push(listener);
  }

  /** Restores the project under another id, and then removes it. */
  async rehearse(copy: ProjectCopy, steps: RestoreSteps, actor: Actor): Promise<void> {
    const { project } = this.factory.copyOf({ ...copy, id: null, keys: null, slug: varySlug(copy.slug) });
    const entry = this.entryOf(project, 'project.restore', actor, { dry_run: true });
    await this.projects.whileLocked(project.id, async () => {
      await this.reserve(project, { mayVary: true, isPlaced: false });
      try {
        await this.fill(project, steps);
      } finally {
        await this.giveUp(project, entry);
      }
    });
  }

  private async fill(project: ProjectEntity, steps: RestoreSteps): Promise<boolean> {
    const [server, blueprint] = [this.serverOf(project), this.blueprintOf(project)];
    const { polled } = await this.provisioner.createEmpty(server, blueprint, steps.extensions);
    await steps.fill(project);
    await this.provisioner.admitOwner(server, blueprint);
    await steps.complete(project);
    return polled;
  }

  /** Whether there is a project with this id, in any status. */
  async exists(id: string): Promise<boolean> {
    return this.projects.exists(id);
  }

  async isActive(id: string): Promise<boolean> {
    return (await this.projects.findActive({ id })) !== null;
  }

  /**
   * The name of the database that this id would have, if that database exists but is not of a project of this
   * installation: it may be of another installation.
   */
  async foreignDatabase(id: string): Promise<string | null> {
    if (await this.projects.exists(id)) return null;
    const { databaseName } = namesOf(id);
    return (await this.provisioner.hasDatabase(new DatabaseServer(this.platformUrl), databaseName))
      ? databaseName
      : null;
  }

  /**
   * Removes the remains of an unfinished project with this id.
   * @throws AppError 400 for a malformed slug, 409 when the id or the slug belongs to a project
   */
  async assertFree({ id, slug }: Pick<ProjectEntity, 'id' | 'slug'>): Promise<void> {
    assertSlug(slug);
    const taken = (await this.projects.findActive({ id })) ?? (await this.projects.findActive({ slug }));
    if (taken) throw slugTaken(taken.project.slug, false);
    for (const unfinished of await this.projects.listUnfinished({ id })) {
      if (!(await this.recover(unfinished))) throw projectBusy();
    }
  }

  async list(query: ProjectListQuery): Promise<{ projects: ProjectEntity[]; total: number }> {
    return this.projects.list(query);
  }

  /** @throws AppError 404 for an unknown project */
  async get(id: string): Promise<ProjectEntity> {
    const row = await this.projects.findActive({ id });
    if (!row) throw projectNotFound();
    return row.project;
  }

  /** Takes effect with the next request, on every replica. @throws AppError 404 for an unknown project */
  async updateProject(id: string, change: ProjectChange, actor: Actor = PLINTH): Promise<ProjectEntity> {
    const signing = await this.signing.prepare(id, change.settings?.jwt_algorithm);
    const entity = await this.projects.updateProject(
      id,
      (before) => {
        assertUnchanged(before, change.unchanged_since ?? null);
        return entryFor('project.update', actor, id, { changed: changedNames(change) });
      },
      (before) => {
        const dataSecret = this.secrets.dataSecretOf(id, before.dataSecret);
        const given = withSealedSecrets(change.settings ?? {}, before.settings, dataSecret);
        const settings = mergeSettings(before.settings, given);
        assertTokensTellApart(effectiveSettings(settings));
        return {
          name: change.name ?? before.name,
          plan: change.plan ?? before.plan,
          settings,
          ...signing(before),
        };
      },
      async (after) => {
        if (change.settings?.auto_rls !== undefined) await this.applyAutoRls(after);
      },
    );
    if (!entity) throw projectNotFound();
    this.registry.forget(id);
    return entity;
  }

  /**
   * Deletes a project, its database and its roles. It no longer serves requests when this resolves.
   * @returns `deleting` while the database still exists: it is being dropped, or ProjectUpkeep will try again
   * @throws AppError 404 for an unknown project, 409 while another request creates or deletes it
   */
  async remove(id: string, actor: Actor = PLINTH): Promise<'deleted' | 'deleting'> {
    const entity = await this.get(id);
    const entry = entryFor('project.delete', actor, id, { slug: entity.slug, name: entity.name });
    let isMarked = false;
    const work = this.projects.whileLocked(id, async () => {
      if (!(await this.projects.markDeleting(id))) throw projectNotFound();
      isMarked = true;
      this.registry.forget(id);
      await this.undo(entity, entry);
    });
    const outcome = work.then(
      (isMine) => {
        if (!isMine) throw projectBusy();
        return 'deleted' as const;
      },
      (error: unknown) => {
        if (!isMarked) throw error;
        this.logger.warn(
          `project ${entity.slug} could not be dropped yet and will be retried: ${String(error)}`,
        );
        return 'deleting' as const;
      },
    );
    const limit = sleep(this.answerMs, undefined, { ref: false }).then(() =>
      isMarked ? ('deleting' as const) : outcome,
    );
    return Promise.race([outcome, limit]);
  }

  /**
   * Undoes a creation or finishes a deletion that was interrupted.
   * @returns false if another process works on it
   */
  async recover(entity: ProjectEntity): Promise<boolean> {
    return this.projects.whileLocked(entity.id, async () => {
      const [unfinished] = await this.projects.listUnfinished({ id: entity.id });
      if (!unfinished) return;
      this.logger.log(`removing the remains of project ${entity.slug} (${unfinished.status})`);
      await this.undo(unfinished, undoEntry(unfinished));
    });
  }

  /** Servers other than the platform's, with or without projects; the own server of a project may be listed several times. */
  async listServersElsewhere(): Promise<DatabaseServer[]> {
    const ofProjects = (await this.projects.listWithOwnServer()).map((entity) => this.serverOf(entity));
    return [...(await this.servers.listOthers()), ...ofProjects];
  }

  /** The server that holds a project's database. */
  serverOf(entity: ProjectEntity): DatabaseServer {
    const url = entity.serverUrl && this.secrets.open('server-url', entity.id, entity.serverUrl);
    return new DatabaseServer(url ?? this.platformUrl);
  }

  /** @throws AppError 404 for an unknown server, 409 if no server has room */
  private async placed(input: NewProject): Promise<NewProject> {
    if (input.databaseUrl !== undefined) return input;
    const { server, url } = await this.servers.place(input.server);
    return { ...input, server, databaseUrl: url ?? undefined };
  }

  /** @param isGiven the request has the server's URL, so the response reports that server's faults */
  private async assertUsable(server: DatabaseServer, isGiven: boolean): Promise<void> {
    await this.template.ensureOn(server).catch((error: Error) => {
      throw isGiven ? databaseServerUnusable(error) : error;
    });
  }

  private async provision(entity: ProjectEntity, actor: Actor): Promise<void> {
    const { polled } = await this.provisioner.create(this.serverOf(entity), this.blueprintOf(entity));
    const secrets = [this.factory.newSecret(entity.id)];
    await this.activate(entity, { polled, secrets, entry: this.entryOf(entity, 'project.create', actor) });
  }

  /** Creates a project in steps; undoes them when one fails. */
  private async build(
    entity: ProjectEntity,
    kind: Reservation,
    steps: () => Promise<void>,
  ): Promise<Project> {
    const isMine = await this.projects.whileLocked(entity.id, async () => {
      await this.reserve(entity, kind);
      try {
        await steps();
      } catch (error) {
        await this.giveUp(entity, undoEntry(entity));
        throw error;
      }
    });
    if (!isMine) throw projectBusy();
    return this.registry.get(entity.id);
  }

  /** The names and passwords of the project's database and roles. */
  blueprintOf(entity: ProjectEntity): DatabaseBlueprint {
    return {
      database: entity.databaseName,
      ownerRole: entity.ownerRole,
      ownerPassword: this.secrets.open('owner-password', entity.id, entity.ownerPassword),
      loginRole: entity.loginRole,
      loginPassword: this.secrets.open('login-password', entity.id, entity.loginPassword),
    };
  }

  private entryOf(
    { id, slug, name, plan }: ProjectEntity,
    action: string,
    actor: Actor,
    details: JsonObject = {},
  ): AuditEntry {
    return entryFor(action, actor, id, { slug, name, plan, ...details });
  }

  private async activate(
    entity: ProjectEntity,
    { polled, secrets, entry }: { polled: boolean; secrets: ProjectSecretEntity[]; entry: AuditEntry },
  ): Promise<void> {
    if (entity.settings.auto_rls === false) await this.applyAutoRls(entity);
    const values = { schemaVersion: PROJECT_SCHEMA_VERSION, polled };
    await this.projects.activate(entity.id, values, secrets, entry);
    this.registry.forget(entity.id);
  }

  private async applyAutoRls(entity: ProjectEntity): Promise<void> {
    const isOn = entity.settings.auto_rls ?? true;
    await this.provisioner.setAutoRls(this.serverOf(entity), entity.databaseName, isOn);
  }

  /** If the creation cannot be undone now, the project stays marked as unfinished, and ProjectUpkeep tries again. */
  private async giveUp(entity: ProjectEntity, entry: AuditEntry): Promise<void> {
    await this.undo(entity, entry).catch((error: unknown) =>
      this.logger.warn(`the creation of project ${entity.slug} could not be undone yet: ${String(error)}`),
    );
  }

  private async undo(entity: ProjectEntity, entry: AuditEntry): Promise<void> {
    await this.provisioner.drop(this.serverOf(entity), this.blueprintOf(entity));
    await this.projects.remove(entity.id, entry);
  }

  /** @throws ServerFull */
  private async reserve(entity: ProjectEntity, { mayVary, isPlaced }: Reservation): Promise<void> {
    const wanted = entity.slug;
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (!(await this.projects.insert(entity, isPlaced))) throw new ServerFull();
        return;
      } catch (error) {
        if (codeOf(error) !== UNIQUE_VIOLATION) throw error;
        if (attempt === SLUG_ATTEMPTS) throw slugTaken(wanted, mayVary);
        if (mayVary) entity.slug = varySlug(wanted);
        else if (!(await this.freeSlug(wanted))) throw slugTaken(wanted, mayVary);
      }
    }
  }

  /**
   * Recovers the interrupted creation or deletion that holds the slug.
   * @returns false if an active project has it
   */
  private async freeSlug(slug: string): Promise<boolean> {
    const [unfinished] = await this.projects.listUnfinished({ slug });
    return unfinished !== undefined && (await this.recover(unfinished));
  }
}

/** @throws AppError 409 if the project was changed after `since` */
function assertUnchanged({ updatedAt }: ProjectEntity, since: string | null): void {
  if (since !== null && new Date(since).getTime() !== updatedAt.getTime()) throw projectChanged();
}
