/** The admin API's responses about backups of the install, schedules and runs, as types and as OpenAPI schemas. */
import { PROJECT_OUTCOMES, ProjectOutcome } from '../../install-restore.service';
import { RUN_STATUSES } from '../../schedule/run.repository';
import * as f from '../../../http/model/fields';

const ID = 'k3v9x0a1b2c3d4e5f6g7';

export class RestoreReport extends f.model({
  id: f.text('Empty for a dry run that would make a copy', { example: ID }),
  slug: f.text({ example: 'acme' }),
  same_id: f.flag('False: a copy with its own id and keys'),
  keys_kept: f.flag('False: the keys, secrets and the database password are new', { example: false }),
  dry_run: f.flag({ example: false }),
  backed_up_at: f.timeText(),
  tables: f.size({ example: 12 }),
  rows: f.size({ example: 34000 }),
  files: f.size({ example: 560 }),
  missing_files: f.size('Files whose bytes were lost before the backup', { example: 0 }),
  skipped_settings: f.texts(
    'Settings of ALTER DATABASE and ALTER ROLE that the owner may not make here, and why; roles that already exist; memberships that need an administrator',
    { example: [] },
  ),
}) {}

class ProjectOutcomeResponse
  extends f.model({
    slug: f.text('As archived', { example: 'acme' }),
    outcome: f.choice(
      PROJECT_OUTCOMES,
      '`verified`: in a dry run. `exists`: its id or slug is taken, and nothing was changed',
    ),
    reason: f.nullable.text(),
  })
  implements ProjectOutcome {}

export class InstallRestoreReport extends f.model({
  dry_run: f.flag({ example: false }),
  backed_up_at: f.timeText(),
  projects: f.list(ProjectOutcomeResponse, {
    example: [{ slug: 'acme', outcome: 'restored', reason: null }],
  }),
  audit_entries: f.size('Entries that were added to the audit log', { example: 1042 }),
  schedules: f.size('Schedules of backups that were added', { example: 1 }),
  servers: f.size("Servers for projects' databases that were added, as draining ones", { example: 0 }),
}) {}

export class BackupScheduleResponse extends f.model({
  cron: f.text('Five fields, as in crontab', { example: '0 3 * * *' }),
  time_zone: f.text({ example: 'UTC' }),
  keep: f.whole('Number of archives to keep', { minimum: 1, example: 7 }),
  enabled: f.flag('False: no backups are made'),
  rehearse_days: f.nullable.whole('Days between two rehearsals of a restore; null: none are made', {
    minimum: 1,
    example: 7,
  }),
}) {}

export class RehearsalResponse extends f.model({
  archive: f.text('Empty: there was none', { example: '20260102T030000Z-acme-1f3a9c2e.tar.gz' }),
  started_at: f.time(),
  finished_at: f.nullable.time('Null: it is being made'),
  error: f.nullable.text('Why it failed'),
  rows: f.nullable.size('Rows that were restored and compared'),
  files: f.nullable.size('Files that were compared with their records'),
  last_good_at: f.nullable.time('Start of the last one without an error'),
}) {}

/** The stored files of an incremental archive. */
export class StoredFilesResponse extends f.model({
  files: f.size({ example: 560 }),
  bytes: f.size('Bytes of the files', { example: 1_200_000_000 }),
  copied_bytes: f.size('Bytes of those that this backup copied; the store had the others', {
    example: 14_000_000,
  }),
}) {}

class StoreResponse extends f.model({
  bytes: f.size('Bytes of the files that the kept archives share', { example: 1_300_000_000 }),
  saved_bytes: f.size('Bytes that the archives would have in addition if each had its files', {
    example: 7_100_000_000,
  }),
}) {}

class BackupSubjectResponse extends f.model({
  project_id: f.nullable.text("Null: the platform's records", { example: ID }),
  slug: f.text({ example: 'acme' }),
  schedule: f.nullable.object(BackupScheduleResponse, "Its own schedule, or else the install's"),
  own_schedule: f.flag('Whether the project has its own schedule'),
  next_at: f.nullable.time(),
  last_success_at: f.nullable.time('Start of the last successful backup'),
  last_success_bytes: f.nullable.size('Bytes of the archive'),
  last_status: f.nullable.choice(RUN_STATUSES, 'Of the last run'),
  last_error: f.nullable.text('Why the last run failed'),
  missing: f.flag('True if the last scheduled backup is missing'),
  store: f.nullable.object(StoreResponse, 'The store of incremental archives; null: there are none'),
  rehearsal: f.nullable.object(RehearsalResponse, 'The last rehearsal of a restore'),
}) {}

export class BackupsResponse extends f.model({
  destination: f.text('Where scheduled backups are stored', { example: 's3:acme-backups/plinth/' }),
  refusal: f.nullable.text(
    'Why scheduled backups, and backups on request, are refused; null if they are not',
  ),
  projects: f.list(BackupSubjectResponse, "The platform's records first, then the projects"),
}) {}

export class BackupRunResponse extends f.model({
  id: f.uuid(),
  project_id: f.nullable.text("Null: the platform's records", { example: ID }),
  slug: f.text('Slug at that time', { example: 'acme' }),
  status: f.choice(RUN_STATUSES, { example: 'succeeded' }),
  due_at: f.time('The scheduled time, or the time of the request'),
  started_at: f.time(),
  finished_at: f.nullable.time(),
  seconds: f.nullable.number('Duration', { example: 41.3 }),
  destination: f.text({ example: 's3:acme-backups/plinth/' }),
  archive: f.text('Name of the file or object, in a folder named by the project id or `platform`', {
    example: '20260102T030000Z-acme-1f3a9c2e.tar.gz',
  }),
  bytes: f.nullable.size('Bytes of the archive', { example: 365_000_000 }),
  error: f.nullable.text(),
  stored: f.nullable.object(StoredFilesResponse, 'Of an incremental archive; null: it has its files'),
  removed_at: f.nullable.time('When the archive was removed in favor of newer ones'),
}) {}

export class QueuedBackups extends f.model({
  queued: f.size('Backups that were queued', { example: 1 }),
}) {}

export class RemovedSchedule extends f.model({
  removed: f.flag({ example: true }),
}) {}
