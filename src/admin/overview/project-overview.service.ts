/** Sizes, counts, requests of the last day and the newest backup of a project. */
import { Inject, Injectable } from '@nestjs/common';
import { SHORT_TIMEOUT } from '../../auth/accounts/account-statements';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, type MailConfig } from '../../config/app-config';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { SampleRepository } from '../../traffic/samples/sample.repository';
import { Project } from '../../projects/project';
import { BackupAge } from '../../advisor/checks/backup-age.check';
import { ProjectOverview } from './project-overview';

const SIZES = {
  text: `select pg_catalog.pg_database_size(pg_catalog.current_database()) as database,
    u.project_bytes as bytes, u.project_files as files,
    (select pg_catalog.count(*) from auth.users) as users,
    (select pg_catalog.count(*) from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = 'public') as tables,
    (select pg_catalog.count(*) from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname = 'public' and pg_catalog.pg_relation_size(c.oid) > 0) as filled
    from storage.usage_of('00000000-0000-0000-0000-000000000000') u`,
};

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

@Injectable()
export class ProjectOverviewService {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly samples: SampleRepository,
    private readonly backups: BackupAge,
    private readonly clock: Clock,
    @Inject(MAIL_CONFIG) private readonly mail: MailConfig,
  ) {}

  /** @throws the driver's error when the database cannot be used */
  async of(project: Project): Promise<ProjectOverview> {
    const reason = 'administrators read the overview';
    const [[, sizes], samples, backup] = await Promise.all([
      this.rls.systemBatch(project.database, reason, [SHORT_TIMEOUT, SIZES]),
      this.samples.list(project.id, 'day', this.clock.date()),
      this.backups.findNewest(project),
    ]);
    const row = new RecordReader('storage.usage', sizes?.rows[0] ?? {});
    const count = (name: string): number => row.integer(name, 0, MAX_COUNT);
    const sum = (name: 'requests' | 'refused' | 'errors'): number =>
      samples.reduce((total, sample) => total + sample[name], 0);
    return {
      database_bytes: count('database'),
      storage_bytes: count('bytes'),
      files: count('files'),
      users: count('users'),
      tables: count('tables'),
      has_rows: count('filled') > 0,
      mail_server: this.mail.smtpUrl !== null,
      last_day: { requests: sum('requests'), refused: sum('refused'), errors: sum('errors') },
      last_backup_at: backup === null ? null : new Date(backup).toISOString(),
    };
  }
}
