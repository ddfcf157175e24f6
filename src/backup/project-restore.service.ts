/**
 * Restores a project from its archive, which is read once, as it arrives. The project is built in the status
 * `provisioning`, where no request reaches it; it becomes active after the end of the archive was verified.
 */
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type Client, DatabaseError } from 'pg';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { Actor } from '../install/audit/audit-log.repository';
import { OwnerDatabase } from '../projects/owner-database';
import { PLANS } from '../projects/plans';
import type { ProjectCopy } from '../projects/project-factory';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectsService } from '../projects/projects.service';
import {
  isKnownVersion,
  migrateProjectDatabase,
  PROJECT_SCHEMA_VERSION,
} from '../provisioning/project-migrations';
import { DiskReserve } from '../limits/disk-reserve.service';
import { ObjectStore } from '../storage/providers/object-store';
import { RemovalHoldRepository } from '../storage/removal/removal-hold.repository';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { unlessAbandoned } from './abandonment';
import type { ArchiveHeader, ArchiveManifest } from './archive/archive-format';
import { ArchivedExtension } from '../copies/archived-objects';
import { ArchiveReader } from './archive/archive-reader';
import { assertAuthentic, Members, OpenArchive, openArchive, readToEnd } from './archive/open-archive';
import { databaseTaken } from '../provisioning/provisioning.errors';
import { archiveInvalid, projectExists, restoreFault } from './backup.errors';
import { notSupported } from '../copies/copies.errors';
import { archivedRoles, copyFrom, rolesOf } from './archive/archived-project';
import { ArchivedExtensions } from './archive/archived-extensions';
import { restoreSettings } from '../copies/load/database-settings';
import { NO_RESULTS, ProjectLoader } from '../copies/load/project-loader';
import { completeOwnerRoles, createOwnerRoles, type OwnerRoles, rolesToRestore } from '../copies/owner-roles';
import { MAINTENANCE_DATABASE } from '../provisioning/database-server';
import { FileLoader } from './file-loader';
import { loadMember } from './load-member';
import type { OpenStored } from './stored/open-stored';
import { StoredFiles } from './stored/stored-files.service';
import { ArchivedContent } from './rehearsal/archived-content';
import { SnapshotLimits } from '../copies/dump/snapshot-limits';
import { SnapshotRepository } from '../copies/dump/snapshot.repository';

export interface RestoreOptions {
  readonly passphrase: string;
  /** Slug of the restored project; default: as archived. */
  readonly slug?: string;
  /** Restores the project under another id, without its files, compares it with the archive, and removes it again. */
  readonly dryRun: boolean;
  /**
   * Keeps database password, signing secrets and sessions of the archive, which its maker knows. A copy always gets new keys.
   */
  readonly keepKeys: boolean;
  /** Aborted when the client disconnects: the restore ends, and is undone. */
  readonly abandoned?: AbortSignal;
}

export interface RestoredProject {
  readonly id: string;
  readonly slug: string;
  /** False: a copy next to the archived project, with its own id and keys. */
  readonly sameId: boolean;
  readonly keysKept: boolean;
  /** Lines about roles, memberships and settings of ALTER DATABASE and ALTER ROLE that the owner may not make here. */
  readonly skippedSettings: readonly string[];
  readonly header: ArchiveHeader;
  readonly manifest: ArchiveManifest;
}

const OWNER_SESSION = {
  options: OWNER_WORK_OPTIONS,
  limits: NO_RESULTS,
  application_name: 'plinth-restore',
};

@Injectable()
export class ProjectRestore {
  constructor(
    private readonly projects: ProjectsService,
    private readonly owner: OwnerDatabase,
    private readonly store: ObjectStore,
    private readonly hold: RemovalHoldRepository,
    private readonly extensions: ArchivedExtensions,
    private readonly disk: DiskReserve,
    private readonly stored: StoredFiles,
  ) {}

  /**
   * @throws AppError 400 for a damaged archive, another passphrase, or SQL that fails on this server; 409 when the id
   *   exists and no other slug was chosen, or the slug is taken
   */
  async restore(input: Readable, options: RestoreOptions, actor: Actor): Promise<RestoredProject> {
    await this.disk.assertRoom();
    const members = new ArchiveReader(input).members();
    try {
      const archive = await this.open(members, options.passphrase);
      const copy = await this.copyOf(archive, options);
      await this.projects.assertFree({ id: copy.id ?? '', slug: copy.slug });
      const byAdmin = await this.extensions.forAdmin(archive.header.extensions);
      return await this.restoreArchive(archive, copy, byAdmin, options, actor);
    } finally {
      // Ends the input as well, if something failed before its end.
      await members.return(undefined as never);
    }
  }

  private async open(members: Members, passphrase: string): Promise<OpenArchive> {
    const archive = await openArchive(members, passphrase);
    const { plinth, project } = archive.header;
    if (!isKnownVersion(project.schema_version))
      throw notSupported(
        `The backup was made by a newer Plinth (${plinth}), or by a development version from before 0.1.0 (docs/guides/upgrades.md)`,
      );
    if (!(PLANS as readonly string[]).includes(project.plan))
      throw notSupported(`There is no plan "${project.plan}"`);
    return archive;
  }

  private async restoreArchive(
    archive: OpenArchive,
    copy: ProjectCopy,
    extensions: readonly ArchivedExtension[],
    { abandoned, dryRun }: RestoreOptions,
    actor: Actor,
  ): Promise<RestoredProject> {
    let filled: Filled | undefined;
    const steps = {
      extensions,
      // Archived SQL may run without end, and catch a cancellation. Dropping the database ends its sessions.
      fill: (project: ProjectEntity): Promise<void> =>
        unlessAbandoned(abandoned, () =>
          this.hold.during(project.id, async () => {
            filled = await this.fill(archive, project, { keepsKeys: copy.keys !== null, dryRun });
          }),
        ),
      complete: async (project: ProjectEntity): Promise<void> => {
        if (!filled) return;
        const { roles, skipped, content, manifest } = filled;
        skipped.push(...(await this.complete(archive, project, roles)));
        if (content)
          await unlessAbandoned(abandoned, () => this.compare(archive, project, { content, manifest }));
      },
    };
    const id = copy.id ?? '';
    const work = dryRun
      ? this.projects.rehearse(copy, steps, actor).then(() => ({ id, slug: copy.slug }))
      : this.projects.restore(copy, steps, actor);
    const project = await work.catch((error: unknown) => {
      // For example, an extension is missing on this server.
      throw error instanceof DatabaseError ? restoreFault('the database', error) : error;
    });
    if (!filled) throw new Error('the archive was not read');
    return reportOf(archive, project, copy, filled);
  }

  private async fill(
    archive: OpenArchive,
    project: ProjectEntity,
    { keepsKeys, dryRun }: { keepsKeys: boolean; dryRun: boolean },
  ): Promise<Filled> {
    const { header, secrets } = archive;
    const renamed = rolesOf(header, project);
    const { roles, skipped } = await this.asAdmin(project, async (client) => {
      const plan = await rolesToRestore(client, archivedRoles(secrets, keepsKeys), project, renamed);
      await createOwnerRoles(client, project.ownerRole, plan.roles);
      return plan;
    });
    const work = 'a restore runs archived SQL with the rights of the owner only';
    // Bytes of a dry run are verified, and not stored.
    const files = dryRun ? null : new FileLoader(this.store, project.id);
    const content = dryRun ? new ArchivedContent() : null;
    const open = this.stored.opener(header.project.id, secrets.data_secret);
    const openStored: OpenStored = (file) => this.disk.watched(open(file));
    const manifest = await this.owner.use(
      project,
      work,
      async (client) => {
        const version = await this.versionOf(project);
        const loader = await ProjectLoader.begin(client, header.extensions, version, renamed);
        const rows = new Map<string, number>();
        const found = await readToEnd(archive.members, (member) =>
          loadMember(
            { ...member, chunks: this.disk.watched(member.chunks) },
            { header, loader, files, rows, content, openStored },
          ),
        );
        await files?.done();
        assertAuthentic(archive.key, found);
        assertRows(found.manifest, rows);
        // Refresh tokens are made of the archived data secret, which the factors of users need.
        if (!keepsKeys && !dryRun) await client.query('delete from auth.sessions');
        return found.manifest;
      },
      OWNER_SESSION,
    );
    if (!dryRun) await this.migrate(project);
    return { manifest, roles, skipped, content };
  }

  /** Called in a dry run, before a migration changes rows. */
  private async compare(
    { header }: OpenArchive,
    project: ProjectEntity,
    { content, manifest }: { content: ArchivedContent; manifest: ArchiveManifest },
  ): Promise<void> {
    let session: BoundedClient | undefined;
    const limits = new SnapshotLimits((error) => session?.abort(error));
    const work = 'a dry run compares every table with the archive';
    await this.owner.use(
      project,
      work,
      async (client) => {
        session = client;
        const snapshot = await SnapshotRepository.begin(client, limits);
        await content.assertRestored(snapshot, header.tables, manifest.files.missing);
      },
      { ...OWNER_SESSION, limits, copiesOut: true },
    );
    await this.migrate(project);
  }

  private async migrate(project: ProjectEntity): Promise<void> {
    if (project.schemaVersion !== PROJECT_SCHEMA_VERSION)
      await migrateProjectDatabase(this.owner.connectionOf(project));
  }

  /** @returns a line about each setting that PostgreSQL refused */
  private async complete(
    { header, secrets }: OpenArchive,
    project: ProjectEntity,
    roles: OwnerRoles,
  ): Promise<string[]> {
    await this.asAdmin(project, (client) => completeOwnerRoles(client, project, roles));
    const target = { database: project.databaseName, roles: rolesOf(header, project) };
    const work = 'PostgreSQL decides which settings an owner may make';
    return this.owner.use(
      project,
      work,
      (client) => restoreSettings(client, secrets.database_settings ?? [], target),
      OWNER_SESSION,
    );
  }

  private asAdmin<T>(project: ProjectEntity, work: (client: Client) => Promise<T>): Promise<T> {
    return this.projects.serverOf(project).asAdmin(MAINTENANCE_DATABASE, work);
  }

  private versionOf(project: ProjectEntity): Promise<number> {
    return this.owner.use(project, 'the version decides about the settings of a dump', async (client) => {
      const { rows } = await client.query<{ version: number }>(
        `select pg_catalog.current_setting('server_version_num')::int as version`,
      );
      return rows[0]?.version ?? 0;
    });
  }

  /** Chooses the id: the archived id if it is free, else a new id if the administrator chose another slug. */
  private async copyOf(archive: OpenArchive, { slug, keepKeys }: RestoreOptions): Promise<ProjectCopy> {
    const { project } = archive.header;
    const isActive = await this.projects.isActive(project.id);
    if (isActive && slug === undefined) throw projectExists(project.slug);
    const foreign = await this.projects.foreignDatabase(project.id);
    if (foreign !== null && slug === undefined) throw databaseTaken(foreign);
    const isTaken = isActive || foreign !== null;
    return copyFrom(archive, { isTaken, slug: slug ?? project.slug, keepKeys });
  }
}

interface Filled {
  readonly manifest: ArchiveManifest;
  /** Set in a dry run. */
  readonly content: ArchivedContent | null;
  /** Roles that were created. */
  readonly roles: OwnerRoles;
  /** See RestoredProject.skippedSettings. */
  readonly skipped: string[];
}

function assertRows(manifest: ArchiveManifest, rows: ReadonlyMap<string, number>): void {
  for (const [member, count] of Object.entries(manifest.rows)) {
    if (rows.get(member) !== count) throw archiveInvalid(`${member} does not have ${count} rows`);
  }
}

function reportOf(
  { header }: OpenArchive,
  { id, slug }: { id: string; slug: string },
  { keys }: Pick<ProjectCopy, 'keys'>,
  { manifest, skipped: skippedSettings }: Filled,
): RestoredProject {
  const sameId = id === header.project.id;
  return { id, slug, sameId, keysKept: keys !== null, skippedSettings, header, manifest };
}
