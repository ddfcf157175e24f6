/** Bodies and query strings of backups. A misspelt `dry_run` must not restore. */
import { IsDateString, NotContains } from 'class-validator';
import { COMPRESSIONS } from '../../../config/compression';
import * as f from '../../../http/model/fields';

const MAX_KEEP = 10_000;
const MAX_REHEARSE_DAYS = 366;

/** How the archive in the response is compressed. */
export class BackupQuery extends f.model({
  compression: f.optional.choice(
    [...COMPRESSIONS],
    '`zstd` is faster than gzip, the default; it needs Node.js 22.15 or later on the server',
    { enum: COMPRESSIONS },
  ),
}) {}

export class PhysicalBackupQuery extends f.model(BackupQuery, {
  files: f.optional.choice(
    ['true', 'false'],
    '`false` leaves out the bytes of files. Only files of the provider `disk` are included',
  ),
}) {}

export class InstallRestoreQuery extends f.model({
  dry_run: f.optional.choice(['true', 'false'], 'Only checks the archive and whether it could be restored'),
  keep_keys: f.optional.choice(
    ['true', 'false'],
    'Whether the keys, secrets, sessions and the database password of the archive are kept, although everybody who could read it knows them. Default: `false` for a project, `true` for an install',
  ),
}) {}

export class RestoreQuery extends f.model(InstallRestoreQuery, {
  slug: f.optional.text(
    'Slug of the restored project. If the archived project exists, the copy gets its own id and keys',
    { checks: [NotContains('\0')] },
  ),
}) {}

/** Names a project; without it the install is meant. */
class BackupSubjectQuery extends f.model({
  project_id: f.optional.text('Id of a project; default: the install', { checks: [NotContains('\0')] }),
}) {}

export class BackupScheduleQuery extends f.model(BackupSubjectQuery, {
  physical: f.optional.choice(
    ['true', 'false'],
    '`true`: the schedule of physical backups of the install; default: `false`',
  ),
}) {}

@f.Example({ hour: 3, time_zone: 'Europe/Berlin', keep: 14, rehearse_days: 7 })
export class BackupScheduleDto extends f.model({
  hour: f.optional.whole('Daily at this hour; default: 3. Not together with `cron`', {
    minimum: 0,
    maximum: 23,
  }),
  cron: f.optional.text('Five fields, as in crontab', { max: 200, example: '30 3 * * 1-5' }),
  time_zone: f.optional.text('Default: UTC', { max: 100, example: 'Europe/Berlin' }),
  keep: f.optional.whole('Archives to keep; default: 7', { minimum: 1, maximum: MAX_KEEP }),
  rehearse_days: f.optional.whole('Days between two rehearsals of a restore; default: none are made', {
    minimum: 1,
    maximum: MAX_REHEARSE_DAYS,
  }),
  enabled: f.optional.flag('False: the project is not backed up by schedule; default: true'),
}) {}

export class BackupRequestDto extends f.model({
  project_id: f.optional.text('Id of a project; default: all of them, and the platform', {
    example: 'k3v9x0a1b2c3d4e5f6g7',
    checks: [NotContains('\0')],
  }),
  physical: f.optional.flag('True: the physical backup of the install alone; default: false'),
}) {}

export class ListRunsQuery extends f.model(BackupSubjectQuery, {
  limit: f.optional.digits(1, 1_000, 'Runs per page; default: 100'),
  before: f.optional(
    f.field<string>({ format: 'date-time', description: 'Only runs that started before this time' }, [
      IsDateString(),
    ]),
  ),
}) {}
