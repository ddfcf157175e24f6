/** Limits of a project with their present use, and the queues, as types and as OpenAPI schemas. */
import * as f from '../../http/model/fields';

/** Queues of the install, in the order of the list. */
const QUEUES = ['auth-mail'] as const;

const QUOTA_STATES = ['ok', 'warning', 'exceeded'] as const;

class RateUse extends f.model({
  name: f.text({ example: 'storage_requests' }),
  limit: f.size('Events allowed per window'),
  used: f.size('Events in the current window, including refused ones'),
  resets_at: f.timeText('The end of the current window'),
}) {}

class QuotaUse extends f.model({
  name: f.field<string>(
    { enum: ['storage_bytes', 'storage_files', 'database_bytes', 'requests_per_day', 'mails_per_day'] },
    [],
    'storage_bytes',
  ),
  used: f.size(),
  limit: f.nullable.size('Null: no limit'),
  state: f.choice(QUOTA_STATES, '`warning` from 80 %'),
}) {}

class MailUse extends f.model({
  waiting: f.size('Mails that are waiting to be sent'),
  failed: f.size('Mails that failed permanently'),
}) {}

export class ProjectUsage extends f.model({
  rate_limits: f.list(RateUse, {
    example: [{ name: 'storage_requests', limit: 1000, used: 42, resets_at: '2026-01-01T08:01:00.000Z' }],
  }),
  quotas: f.list(QuotaUse),
  mails: f.object(MailUse, { example: { waiting: 0, failed: 1 } }),
}) {}

@f.Example({ name: 'auth-mail', waiting: 0, active: 1, delayed: 2, failed: 0, completed: 40, paused: false })
export class QueueState extends f.model({
  name: f.text({ enum: QUEUES }),
  waiting: f.size('Jobs that wait for a worker'),
  active: f.size('Jobs that are running'),
  delayed: f.size('Jobs that are scheduled for a later attempt'),
  failed: f.size('Jobs that failed permanently and are still kept'),
  completed: f.size('Completed jobs that are still kept'),
  paused: f.flag(),
}) {}
