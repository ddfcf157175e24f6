/**
 * Restores the newest archive of a project into a scratch database, compares its rows and files with the archive, and removes it.
 * The archive of the platform's records, and a physical one, are read and verified.
 */
import { Injectable } from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { randomId } from '../../infra/crypto/random';
import { PLINTH } from '../../install/audit/audit-log.repository';
import type { ArchiveManifest } from '../archive/archive-format';
import { verifyArchive } from '../archive/open-archive';
import { openPhysicalArchive, readVerified } from '../physical/physical-archive';
import { ProjectRestore } from '../project-restore.service';
import { BackupDestination } from '../schedule/backup-destination';
import { BackupPassphrase } from '../schedule/backup-passphrase';
import { BackupStates, type SubjectState } from '../schedule/backup-state.service';
import { DueWork } from '../schedule/due-work';
import { type BackupRun, PHYSICAL, PLATFORM, RunRepository } from '../schedule/run.repository';
import { RehearsalMails } from './rehearsal-mails.service';
import { type Rehearsal, RehearsalRepository } from './rehearsal.repository';

/** Characters of an error that is recorded. */
const MAX_ERROR = 1_000;
const LOST = 'The process that made this rehearsal ended before it was complete';

@Injectable()
export class BackupRehearsals extends DueWork {
  private readonly stopping = new AbortController();

  constructor(
    private readonly states: BackupStates,
    private readonly runs: RunRepository,
    private readonly rehearsals: RehearsalRepository,
    private readonly destination: BackupDestination,
    private readonly passphrase: BackupPassphrase,
    private readonly projects: ProjectRestore,
    private readonly mails: RehearsalMails,
    clock: Clock,
  ) {
    super('rehearsals of backups', clock);
  }

  protected async listDue(): Promise<string[]> {
    const states = await this.states.list();
    for (const { subject } of states.filter(isUnfinished))
      await this.whileLocked(subject, async (state) => {
        if (isUnfinished(state)) await this.fail(state, state.rehearsal, LOST);
      });
    return states.filter(({ isRehearsalDue }) => isRehearsalDue).map(({ subject }) => subject);
  }

  protected async make(subject: string, requestedAt: Date | null): Promise<void> {
    await this.whileLocked(subject, async (state) => {
      if (requestedAt !== null || state.isRehearsalDue) await this.rehearse(state);
    });
  }

  protected interrupt(): void {
    this.stopping.abort();
  }

  /** @param work gets the state, which no other process changes while it runs */
  private async whileLocked(subject: string, work: (state: SubjectState) => Promise<void>): Promise<void> {
    await this.runs.whileLocked(`rehearsal of ${subject}`, async () => {
      const state = (await this.states.list()).find((one) => one.subject === subject);
      if (state) await work(state);
    });
  }

  private async rehearse(state: SubjectState): Promise<void> {
    const { subject, slug, rehearsal: last } = state;
    const run = await this.runs.newest(subject, this.destination.name);
    const begun = {
      ...{ archive: run?.archive ?? '', startedAt: this.clock.date(), finishedAt: null },
      ...{ error: null, rows: null, files: null, lastGoodAt: last?.lastGoodAt ?? null },
    };
    await this.rehearsals.save(subject, begun);
    try {
      if (!run) throw new Error(`There is no archive in ${this.destination.name}`);
      const { rows, files } = await this.restore(run);
      const counts = { rows: Object.values(rows).reduce((sum, count) => sum + count, 0), files: files.count };
      const finishedAt = this.clock.date();
      await this.rehearsals.save(subject, { ...begun, ...counts, finishedAt, lastGoodAt: begun.startedAt });
      this.logger.log(`the restore of ${slug} was rehearsed: ${counts.rows} rows, ${counts.files} files`);
    } catch (error) {
      // The next process repeats the rehearsal.
      if (this.stopping.signal.aborted) await this.rehearsals.save(subject, last);
      else await this.fail(state, begun, messageOf(error).slice(0, MAX_ERROR));
    }
  }

  private async restore({ subject, archive, bytes }: BackupRun): Promise<ArchiveManifest> {
    const passphrase = this.passphrase.get();
    const input = await this.destination.read(subject, archive, Number(bytes));
    if (subject === PHYSICAL)
      return readVerified(await openPhysicalArchive(input, passphrase), async () => undefined);
    if (subject === PLATFORM) return (await verifyArchive(input, passphrase)).manifest;
    const slug = `rehearsal-${randomId().slice(0, 8)}`;
    const options = { passphrase, slug, dryRun: true, keepKeys: false, abandoned: this.stopping.signal };
    return (await this.projects.restore(input, options, PLINTH)).manifest;
  }

  private async fail({ subject, slug }: SubjectState, begun: Rehearsal, error: string): Promise<void> {
    await this.rehearsals.save(subject, { ...begun, finishedAt: this.clock.date(), error });
    this.logger.error(`the restore of ${slug} was rehearsed and failed: ${error}`);
    await this.mails
      .send({ subject, slug, archive: begun.archive, error })
      .catch((fault: unknown) =>
        this.logger.warn(`no mail about it was sent to the operators: ${messageOf(fault)}`),
      );
  }
}

function isUnfinished(state: SubjectState): state is SubjectState & { readonly rehearsal: Rehearsal } {
  return state.rehearsal !== null && state.rehearsal.finishedAt === null;
}
