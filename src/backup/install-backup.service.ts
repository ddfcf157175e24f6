/**
 * Writes the archive of the install: an archive of each project, the audit log and the schedules of backups. A project that
 * cannot be archived does not stop the others, because its owner could otherwise prevent every backup of the install.
 */
import { createHash } from 'node:crypto';
import { PassThrough, type Writable } from 'node:stream';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Compression } from '../config/compression';
import { AppError } from '../common/errors/app-error';
import { messageOf } from '../common/errors/error-facts';
import { Clock } from '../common/time/clock';
import { PRODUCT } from '../config/product';
import { ProjectEntity } from '../projects/project.entity';
import { ProjectsService } from '../projects/projects.service';
import { ServersService } from '../servers/servers.service';
import {
  ArchiveManifest,
  AUDIT_LOG,
  FailedProject,
  FORMAT,
  HEADER,
  InstallHeader,
  InstallSecrets,
  PROJECTS_FOLDER,
  SECRETS,
} from './archive/archive-format';
import { ArchiveWriter } from './archive/archive-writer';
import { assertAvailable, compressor, endingOf } from './archive/compression';
import { PassphraseKey } from './archive/passphrase-key';
import { AuditArchiveRepository } from './archive/audit-archive.repository';
import { ProjectBackup } from './project-backup.service';
import { toArchivedSchedule } from './schedule/schedule';
import { ScheduleRepository } from './schedule/schedule.repository';

const PAGE = 1_000;
const NO_FILES = { count: 0, bytes: 0, missing: 0 };

interface Source {
  readonly header: InstallHeader;
  readonly secrets: InstallSecrets;
  readonly key: PassphraseKey;
  readonly compression: Compression;
}

@Injectable()
export class InstallBackup {
  private readonly logger = new Logger('Backup');

  constructor(
    private readonly projects: ProjectsService,
    private readonly backups: ProjectBackup,
    private readonly audit: AuditArchiveRepository,
    private readonly schedules: ScheduleRepository,
    private readonly servers: ServersService,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * Writes the archive of all projects and of the platform. The manifest lists the projects that failed.
   * @param openOutput called once the platform database was read
   */
  async write(
    passphrase: string,
    openOutput: () => Promise<Writable>,
    compression: Compression = 'gzip',
  ): Promise<ArchiveManifest> {
    assertAvailable(compression);
    const key = await PassphraseKey.create(passphrase);
    return this.writeOf(await this.allProjects(), key, openOutput, compression);
  }

  /** Like write(), but without the projects, which scheduled backups archive one by one. */
  async writePlatform(
    key: PassphraseKey,
    openOutput: () => Promise<Writable>,
    compression: Compression,
  ): Promise<ArchiveManifest> {
    return this.writeOf([], key, openOutput, compression);
  }

  private async writeOf(
    projects: readonly ProjectEntity[],
    key: PassphraseKey,
    openOutput: () => Promise<Writable>,
    compression: Compression,
  ): Promise<ArchiveManifest> {
    const schedules = (await this.schedules.list()).map(toArchivedSchedule);
    const header = this.headerOf(projects, key, endingOf(compression));
    const source = {
      header,
      secrets: { schedules, servers: await this.servers.listForBackup() },
      key,
      compression,
    };
    const output = await openOutput();
    let manifest: ArchiveManifest | undefined;
    const fill = async (archive: ArchiveWriter): Promise<void> => {
      manifest = await this.fill(archive, source);
    };
    // Its large members, the archives of the projects, are already compressed.
    await ArchiveWriter.write(output, this.clock.now(), compressor(compression, true), fill);
    if (!manifest) throw new Error('the archive has no manifest');
    return manifest;
  }

  private async fill(archive: ArchiveWriter, source: Source): Promise<ArchiveManifest> {
    const { header, secrets, key, compression } = source;
    const headerBytes = Buffer.from(`${JSON.stringify(header, null, 2)}\n`);
    await archive.add(HEADER, headerBytes);
    const context = createHash('sha256').update(headerBytes).digest();
    await archive.add(SECRETS, key.seal(JSON.stringify(secrets), context));
    const entries = await this.audit.read((chunks) => archive.addParts(AUDIT_LOG, chunks));
    const failed: FailedProject[] = [];
    for (const { id, slug, member } of header.projects) {
      const reason = await this.addProject(archive, { id, member }, key, compression);
      if (reason !== null) failed.push({ id, slug, reason });
    }
    return archive.finish(key, { rows: { [AUDIT_LOG]: entries }, files: NO_FILES, failed });
  }

  /** @returns why the project could not be archived, or null */
  private async addProject(
    archive: ArchiveWriter,
    { id, member }: { readonly id: string; readonly member: string },
    key: PassphraseKey,
    compression: Compression,
  ): Promise<string | null> {
    try {
      await archive.addParts(member, this.archiveOf(id, key, compression));
      return null;
    } catch (error) {
      if (archive.isBroken) throw error;
      this.logger.error(`project ${id} could not be archived: ${String(error)}`);
      return error instanceof AppError ? error.message : messageOf(error);
    }
  }

  private async *archiveOf(id: string, key: PassphraseKey, compression: Compression): AsyncGenerator<Buffer> {
    const through = new PassThrough();
    const written = this.backups.write(id, key, async () => through, compression);
    written.catch((error: Error) => through.destroy(error));
    try {
      yield* through as AsyncIterable<Buffer>;
      await written;
    } finally {
      through.destroy();
    }
  }

  private async allProjects(): Promise<ProjectEntity[]> {
    const all: ProjectEntity[] = [];
    for (;;) {
      const { projects } = await this.projects.list({ limit: PAGE, offset: all.length, among: null });
      all.push(...projects);
      if (projects.length < PAGE) return all;
    }
  }

  /** @param ending the ending of the names of the projects' archives */
  private headerOf(projects: readonly ProjectEntity[], key: PassphraseKey, ending: string): InstallHeader {
    return {
      format: FORMAT,
      kind: 'install',
      plinth: PRODUCT.version,
      created_at: this.clock.date().toISOString(),
      projects: projects.map(({ id, slug }) => ({ id, slug, member: `${PROJECTS_FOLDER}${slug}${ending}` })),
      key: key.derivation,
    };
  }
}
