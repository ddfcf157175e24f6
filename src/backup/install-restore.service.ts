/**
 * Restores the archive of an install: each project as in a separate restore, then the audit log and the schedules. A project
 * that exists or fails does not stop the others, so an interrupted restore can be repeated.
 */
import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { Clock } from '../common/time/clock';
import { Actor } from '../install/audit/audit-log.repository';
import { ArchiveManifest, AUDIT_LOG, PROJECTS_FOLDER } from './archive/archive-format';
import { ArchiveMember, ArchiveReader } from './archive/archive-reader';
import { assertAuthentic, Members, openInstallArchive, readToEnd } from './archive/open-archive';
import { ServersService } from '../servers/servers.service';
import { archiveInvalid, restoreAbandoned, restoreFault } from './backup.errors';
import { AuditArchiveRepository, StagedAuditLog } from './archive/audit-archive.repository';
import { ProjectRestore, RestoreOptions } from './project-restore.service';
import { fromArchivedSchedule } from './schedule/schedule';
import { ScheduleRepository } from './schedule/schedule.repository';

export const PROJECT_OUTCOMES = ['restored', 'verified', 'exists', 'failed'] as const;

export interface ProjectOutcome {
  /** As archived. */
  readonly slug: string;
  /** `verified`: a dry run would have restored it. `exists`: its id or slug is taken, and nothing was changed. */
  readonly outcome: (typeof PROJECT_OUTCOMES)[number];
  readonly reason: string | null;
}

export interface RestoredInstall {
  readonly backedUpAt: string;
  readonly projects: readonly ProjectOutcome[];
  /** Entries that were added to the audit log. */
  readonly auditEntries: number;
  /** Schedules of backups that were added. */
  readonly schedules: number;
  /** Servers for projects' databases that were added. */
  readonly servers: number;
}

@Injectable()
export class InstallRestore {
  private readonly logger = new Logger('Backup');

  constructor(
    private readonly restores: ProjectRestore,
    private readonly audit: AuditArchiveRepository,
    private readonly schedules: ScheduleRepository,
    private readonly servers: ServersService,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError 400 for a damaged archive or another passphrase; projects that were restored before stay */
  async restore(
    input: Readable,
    options: Omit<RestoreOptions, 'slug'>,
    actor: Actor,
  ): Promise<RestoredInstall> {
    const members = new ArchiveReader(input).members();
    try {
      return await this.audit.staging((staged) => this.read(members, staged, options, actor));
    } finally {
      // Ends the input as well, if something failed before its end.
      await members.return(undefined as never);
    }
  }

  private async read(
    members: Members,
    staged: StagedAuditLog,
    options: Omit<RestoreOptions, 'slug'>,
    actor: Actor,
  ): Promise<RestoredInstall> {
    const { header, secrets, key } = await openInstallArchive(members, options.passphrase);
    const schedules = secrets.schedules.map(fromArchivedSchedule);
    const projects: ProjectOutcome[] = [];
    const end = await readToEnd(members, async (member) => {
      if (member.name === AUDIT_LOG) await loadAuditLog(staged, member);
      else if (member.name.startsWith(PROJECTS_FOLDER))
        projects.push(await this.restoreProject(member, options, actor));
      else throw archiveInvalid(`${member.name} is not a member that this version knows`);
    });
    assertAuthentic(key, end);
    const report = { backedUpAt: header.created_at, projects: withFailed(projects, end.manifest) };
    if (options.dryRun) return { ...report, auditEntries: 0, schedules: 0, servers: 0 };
    const added = await this.schedules.addMissing(schedules, this.clock.now());
    const servers = await this.servers.addFromBackup(secrets.servers ?? [], actor);
    const details = {
      backed_up_at: header.created_at,
      restored: projects.flatMap(({ slug, outcome }) => (outcome === 'restored' ? [slug] : [])),
      keys_kept: options.keepKeys,
      schedules: added,
      servers,
    };
    return { ...report, auditEntries: await staged.add(actor, details), schedules: added, servers };
  }

  private async restoreProject(
    { name, chunks }: ArchiveMember,
    options: Omit<RestoreOptions, 'slug'>,
    actor: Actor,
  ): Promise<ProjectOutcome> {
    if (options.abandoned?.aborted) throw restoreAbandoned();
    const slug = name.slice(PROJECTS_FOLDER.length).replace(/\.tar(\.gz|\.zst)?$/, '');
    try {
      const input = Readable.from(borrowed(chunks), { objectMode: false });
      const { skippedSettings: skipped } = await this.restores.restore(input, options, actor);
      const reason = skipped.length === 0 ? null : `Without these settings: ${skipped.join('; ')}`;
      return { slug, outcome: options.dryRun ? 'verified' : 'restored', reason };
    } catch (error) {
      this.logger.warn(`project ${slug} was not restored: ${String(error)}`);
      if (!(error instanceof AppError))
        return { slug, outcome: 'failed', reason: 'See the log of the server' };
      const isTaken = error.code === 'project_already_exists';
      return { slug, outcome: isTaken ? 'exists' : 'failed', reason: error.message };
    }
  }
}

/** @throws AppError 400 */
async function loadAuditLog(staged: StagedAuditLog, { name, chunks }: ArchiveMember): Promise<void> {
  try {
    await staged.load(chunks);
  } catch (error) {
    throw restoreFault(name, error as Error);
  }
}

/** Adds the projects that the backup could not archive, with the reason that was recorded. */
function withFailed(projects: readonly ProjectOutcome[], { failed = [] }: ArchiveManifest): ProjectOutcome[] {
  const reasons = new Map(failed.map(({ slug, reason }) => [slug, `It could not be backed up: ${reason}`]));
  const others = projects.filter(({ slug }) => !reasons.has(slug));
  return [...others, ...[...reasons].map(([slug, reason]) => ({ slug, outcome: 'failed' as const, reason }))];
}

/**
 * Yields the same chunks. Ending this iteration early does not end the iteration of `chunks`, so the rest of the member can be
 * skipped.
 */
async function* borrowed(chunks: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer> {
  for (;;) {
    const next = await chunks.next();
    if (next.done) return;
    yield next.value;
  }
}
