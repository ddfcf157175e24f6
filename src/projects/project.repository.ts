/** Projects and their secrets in the platform database. */
import { Inject, Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { DataSource, EntityManager, In, IsNull, MoreThan, Not } from 'typeorm';
import { codeOf } from '../common/errors/error-facts';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { withConnection } from '../database/pools/one-off-connection';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { AuditEntry, AuditLogRepository } from '../install/audit/audit-log.repository';
import { INSTALL_CHANNEL } from '../install/message-bus.service';
import { ProjectEntity, ProjectSecretEntity } from './project.entity';

export interface ProjectRow {
  readonly project: ProjectEntity;
  readonly secrets: ProjectSecretEntity[];
}

export interface ProjectListQuery {
  readonly limit: number;
  readonly offset: number;
  /** Exactly this slug. */
  readonly slug?: string;
  /** Part of the name or slug. */
  readonly search?: string;
  /** Only projects with these ids; null: all. */
  readonly among: readonly string[] | null;
}

/** The form of ids and slugs. Other text is not sent to PostgreSQL, which refuses some of it, such as NUL. */
const ADDRESS = /^[a-z0-9-]{1,63}$/;

type Changes = Partial<
  Pick<ProjectEntity, 'name' | 'plan' | 'settings' | 'pausedAt' | 'signingKeys' | 's3Keys' | 'apiKeys'>
>;

@Injectable()
export class ProjectRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
    @Inject(PLATFORM_URL) private readonly platformUrl: string,
  ) {}

  async findActive(where: { id: string } | { slug: string }): Promise<ProjectRow | null> {
    if (!ADDRESS.test('id' in where ? where.id : where.slug)) return null;
    const project = await this.dataSource.manager.findOneBy(ProjectEntity, { ...where, status: 'active' });
    if (!project) return null;
    return { project, secrets: await this.secretsOf(project.id) };
  }

  /** Finds a project in any status. */
  async exists(id: string): Promise<boolean> {
    return this.dataSource.manager.existsBy(ProjectEntity, { id });
  }

  /** The matching projects in the order of creation, and their total number. */
  async list({
    limit,
    offset,
    slug,
    search,
    among,
  }: ProjectListQuery): Promise<{ projects: ProjectEntity[]; total: number }> {
    const [projects, total] = await this.dataSource.manager
      .createQueryBuilder(ProjectEntity, 'project')
      .where(
        `project.status = 'active' and (:slug::text is null or project.slug = :slug)
        and (:search::text is null or strpos(lower(project.slug || ' ' || project.name), lower(:search)) > 0)
        and (:among::text[] is null or project.id = any(:among))`,
      )
      .setParameters({ slug: slug ?? null, search: search ?? null, among })
      .orderBy({ 'project.createdAt': 'ASC', 'project.id': 'ASC' })
      .skip(offset)
      .take(limit)
      .getManyAndCount();
    return { projects, total };
  }

  /** The newest active project. */
  async findNewest(): Promise<ProjectEntity | null> {
    return this.dataSource.manager.findOne(ProjectEntity, {
      where: { status: 'active' },
      order: { createdAt: 'DESC' },
    });
  }

  /**
   * The next active projects whose database has another schema version, in the order of their ids.
   * @param after id of the last one of the page before; empty for the first page
   */
  async listOutdated(schemaVersion: string, after: string, limit: number): Promise<ProjectEntity[]> {
    return this.dataSource.manager.find(ProjectEntity, {
      where: { id: MoreThan(after), status: 'active', schemaVersion: Not(schemaVersion) },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** Active projects with their own server, which is not one of the installation's. */
  async listWithOwnServer(): Promise<ProjectEntity[]> {
    return this.dataSource.manager.findBy(ProjectEntity, {
      status: 'active',
      server: IsNull(),
      serverUrl: Not(IsNull()),
    });
  }

  /** The schema version of an active project; null when it is no longer active. */
  async findSchemaVersion(id: string): Promise<string | null> {
    const project = await this.dataSource.manager.findOneBy(ProjectEntity, { id, status: 'active' });
    return project?.schemaVersion ?? null;
  }

  async listActiveIds(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `select id from projects where status = 'active' order by id`,
    );
    return rows.map(({ id }) => id);
  }

  async listUnfinished(where: { id?: string; slug?: string } = {}): Promise<ProjectEntity[]> {
    return this.dataSource.manager.findBy(ProjectEntity, {
      ...where,
      status: In(['provisioning', 'deleting']),
    });
  }

  /**
   * @param isPlaced whether the server was chosen for its free places
   * @returns false if other creations have taken that room in the meantime
   */
  async insert(project: ProjectEntity, isPlaced: boolean): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      if (isPlaced && !(await hasRoom(manager, project.server))) return false;
      await manager.insert(ProjectEntity, project);
      return true;
    });
  }

  /**
   * Activates a provisioned project with its secrets, in one transaction.
   * @throws Error when its creation was undone in the meantime
   */
  async activate(
    id: string,
    values: Pick<ProjectEntity, 'schemaVersion' | 'polled'>,
    secrets: ProjectSecretEntity[],
    entry: AuditEntry,
  ): Promise<void> {
    await this.change(id, entry, async (manager) => {
      await manager.insert(ProjectSecretEntity, secrets);
      const { affected } = await manager.update(
        ProjectEntity,
        { id, status: 'provisioning' },
        { ...values, status: 'active' },
      );
      if (affected !== 1) throw new Error(`the creation of project ${id} was given up`);
    });
  }

  /** Changes an active project under a lock on its row. @returns null if there is none */
  async updateProject(
    id: string,
    entryOf: (before: ProjectEntity) => AuditEntry,
    changesTo: (before: ProjectEntity) => Changes,
    beforeCommit: (after: ProjectEntity) => Promise<void>,
  ): Promise<ProjectEntity | null> {
    if (!ADDRESS.test(id)) return null;
    return this.dataSource.transaction(async (manager) => {
      const before = await manager.findOne(ProjectEntity, {
        where: { id, status: 'active' },
        lock: { mode: 'pessimistic_write' },
      });
      if (!before) return null;
      await this.audit.write(entryOf(before), manager);
      await manager.update(ProjectEntity, { id }, changesTo(before));
      await announce(manager, id);
      const after = await manager.findOneByOrFail(ProjectEntity, { id });
      await beforeCommit(after);
      return after;
    });
  }

  async setSchemaVersion(id: string, schemaVersion: string): Promise<void> {
    await this.dataSource.manager.update(ProjectEntity, { id }, { schemaVersion });
  }

  /** @returns false if it is not active */
  async markDeleting(id: string): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const { affected } = await manager.update(
        ProjectEntity,
        { id, status: 'active' },
        { status: 'deleting' },
      );
      await announce(manager, id);
      return affected === 1;
    });
  }

  /**
   * Stores a secret that verifies signatures, but does not sign until rotateSecret() makes it the current one.
   * @param until when it expires unless it becomes the current one
   */
  async introduceSecret(secret: ProjectSecretEntity, until: Date): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.insert(ProjectSecretEntity, { ...secret, expiresAt: until });
      await announce(manager, secret.projectId);
    });
  }

  /**
   * Makes the secret the current one. Old secrets are valid until `oldExpireAt`; if that is now, they are
   * deleted.
   * @param keysOf the changed keys that sign users' tokens, and its named keys
   */
  async rotateSecret(
    secret: ProjectSecretEntity,
    { now, oldExpireAt }: { now: Date; oldExpireAt: Date },
    entry: AuditEntry,
    keysOf: (before: ProjectEntity) => ChangedKeys,
  ): Promise<void> {
    const id = secret.projectId;
    await this.change(id, entry, async (manager) => {
      // Serialises rotations of one project: only one secret may be the current one.
      await changeKeys(manager, id, keysOf);
      await manager.query(
        'update project_secrets set expires_at = $2 where project_id = $1 and (expires_at is null or expires_at > $2)',
        [id, oldExpireAt],
      );
      // Deleted here, because the clock of another process may be slow, so that it would still accept them.
      await manager.query('delete from project_secrets where project_id = $1 and expires_at <= $2', [
        id,
        now,
      ]);
      await manager.upsert(ProjectSecretEntity, { ...secret, expiresAt: null }, ['projectId', 'kid']);
    });
  }

  /** @param entry null: another entry records the change */
  async changeSigningKeys(
    id: string,
    entry: AuditEntry | null,
    keysOf: (before: ProjectEntity) => Buffer | null,
  ): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await changeKeys(manager, id, (before) => ({ signingKeys: keysOf(before) }));
      if (entry) await this.audit.write(entry, manager);
      await announce(manager, id);
    });
  }

  /**
   * Runs work that sets the password of the owner role. Changes of one project run one at a time.
   * @param work gets the project as it is now; the password that it sets there is stored
   * @returns null if there is no such project
   */
  async changeOwnerPassword(
    id: string,
    work: (project: ProjectEntity) => Promise<AuditEntry | null>,
  ): Promise<ProjectEntity | null> {
    return this.dataSource.transaction(async (manager) => {
      const project = await manager.findOne(ProjectEntity, {
        where: { id },
        lock: { mode: 'pessimistic_write' },
      });
      if (!project) return null;
      const { ownerPassword } = project;
      const entry = await work(project);
      if (project.ownerPassword !== ownerPassword)
        await manager.update(ProjectEntity, { id }, { ownerPassword: project.ownerPassword });
      if (entry) await this.audit.write(entry, manager);
      return project;
    });
  }

  async remove(id: string, entry: AuditEntry): Promise<void> {
    await this.change(id, entry, (manager) => manager.delete(ProjectEntity, { id }));
  }

  /**
   * Runs work that only one process may do for a project at a time. The lock has its own connection: if it
   * took one from the pool, the work could wait for the pool forever.
   * @param waitTimeoutMs time to wait for another process that holds the lock
   * @returns false if another process holds the lock
   */
  async whileLocked(id: string, work: () => Promise<void>, waitTimeoutMs = 0): Promise<boolean> {
    return withConnection({ connectionString: this.platformUrl }, async (client) => {
      if (!(await lockProject(client, id, waitTimeoutMs))) return false;
      await work();
      return true;
    });
  }

  private async secretsOf(projectId: string): Promise<ProjectSecretEntity[]> {
    return this.dataSource.manager.findBy(ProjectSecretEntity, { projectId });
  }

  private async change(
    id: string,
    entry: AuditEntry,
    work: (manager: EntityManager) => Promise<unknown>,
  ): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await work(manager);
      await this.audit.write(entry, manager);
      await announce(manager, id);
    });
  }
}

/** Locks the project's row. */
type ChangedKeys = Partial<Pick<ProjectEntity, 'signingKeys' | 's3Keys' | 'apiKeys'>>;

async function changeKeys(
  manager: EntityManager,
  id: string,
  keysOf: (before: ProjectEntity) => ChangedKeys,
): Promise<void> {
  const lock = { mode: 'pessimistic_write' as const };
  const before = await manager.findOne(ProjectEntity, { where: { id }, lock });
  if (before) await manager.update(ProjectEntity, { id }, keysOf(before));
}

async function lockProject(client: Client, id: string, waitTimeoutMs: number): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
    [id],
  );
  if (rows[0]?.locked || waitTimeoutMs === 0) return rows[0]?.locked === true;
  await client.query(`select set_config('lock_timeout', $1, false)`, [`${waitTimeoutMs}ms`]);
  try {
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [id]);
    return true;
  } catch (error) {
    if (codeOf(error) === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/** Serialises the creations on one server, so that they do not exceed its capacity together. */
async function hasRoom(manager: EntityManager, server: string | null): Promise<boolean> {
  await manager.query('select from database_servers where name = $1 for no key update', [server]);
  const [row] = await manager.query<{ room: boolean }[]>(
    `select s.capacity > (select count(*) from projects p where p.server = s.name) as room
     from database_servers s where s.name = $1`,
    [server],
  );
  return row?.room ?? false;
}

/** Every process evicts the project from its cache when the transaction commits. */
async function announce(manager: EntityManager, id: string): Promise<void> {
  await manager.query('select pg_notify($1, $2)', [INSTALL_CHANNEL, id]);
}
