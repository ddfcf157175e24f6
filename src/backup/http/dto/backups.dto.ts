/** Bodies and query strings of backups. A misspelt `dry_run` must not restore. */
import { IsDateString, NotContains } from 'class-validator';
import { COMPRESSIONS } from '../../../config/compression';
import { Example } from '../../../http/docs/example.decorator';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

const MAX_KEEP = 10_000;
const MAX_REHEARSE_DAYS = 366;

/** How the archive in the response is compressed. */
export class BackupQuery extends model({
  compression: f.optional(
    f.choice([...COMPRESSIONS], {
      enum: COMPRESSIONS,
      description: '`zstd` is faster than gzip, the default; it needs Node.js 22.15 or later on the server',
    }),
  ),
}) {}

export class PhysicalBackupQuery extends model(BackupQuery, {
  files: f.optional(
    f.choice(
      ['true', 'false'],
      '`false` leaves out the bytes of files. Only files of the provider `disk` are included',
    ),
  ),
}) {}

export class InstallRestoreQuery extends model({
  dry_run: f.optional(
    f.choice(['true', 'false'], 'Only checks the archive and whether it could be restored'),
  ),
  keep_keys: f.optional(
    f.choice(
      ['true', 'false'],
      'Whether the keys, secrets, sessions and the database password of the archive are kept, which everybody knows who could read it. Default: `false` for a project, `true` for an install',
    ),
  ),
}) {}

export class RestoreQuery extends model(InstallRestoreQuery, {
  slug: f.optional(
    f.text({
      description:
        'Slug of the restored project. If the archived project exists, the copy gets its own id and keys',
      checks: [NotContains('\0')],
    }),
  ),
}) {}

/** Names a project; without it the install is meant. */
class BackupSubjectQuery extends model({
  project_id: f.optional(
    f.text({ description: 'Id of a project; default: the install', checks: [NotContains('\0')] }),
  ),
}) {}

export class BackupScheduleQuery extends model(BackupSubjectQuery, {
  physical: f.optional(
    f.choice(['true', 'false'], '`true`: the schedule of physical backups of the install; default: `false`'),
  ),
}) {}

@Example({ hour: 3, time_zone: 'Europe/Berlin', keep: 14, rehearse_days: 7 })
export class BackupScheduleDto extends model({
  hour: f.optional(
    f.whole({
      minimum: 0,
      maximum: 23,
      description: 'Daily at this hour; default: 3. Not together with `cron`',
    }),
  ),
  cron: f.optional(f.text({ max: 200, example: '30 3 * * 1-5', description: 'Five fields, as in crontab' })),
  time_zone: f.optional(f.text({ max: 100, example: 'Europe/Berlin', description: 'Default: UTC' })),
  keep: f.optional(f.whole({ minimum: 1, maximum: MAX_KEEP, description: 'Archives to keep; default: 7' })),
  rehearse_days: f.optional(
    f.whole({
      minimum: 1,
      maximum: MAX_REHEARSE_DAYS,
      description: 'Days between two rehearsals of a restore; default: none are made',
    }),
  ),
  enabled: f.optional(f.flag('False: the project is not backed up by schedule; default: true')),
}) {}

export class BackupRequestDto extends model({
  project_id: f.optional(
    f.text({
      description: 'Id of a project; default: all of them, and the platform',
      example: 'k3v9x0a1b2c3d4e5f6g7',
      checks: [NotContains('\0')],
    }),
  ),
  physical: f.optional(f.flag('True: the physical backup of the install alone; default: false')),
}) {}

export class ListRunsQuery extends model(BackupSubjectQuery, {
  limit: f.optional(f.digits(1, 1_000, 'Runs per page; default: 100')),
  before: f.optional(
    f.field<string>({ format: 'date-time', description: 'Only runs that started before this time' }, [
      IsDateString(),
    ]),
  ),
}) {}
