/** Answers of the administration, for the OpenAPI document. */
import { AUDIT_ACTIONS } from '../../audit/audit-entry';
import { SessionMetadataResponse } from './auth-responses';
import * as f from '../../../http/model/fields';
import { model } from '../../../http/model/model';

class AdminUserResponse extends model({
  id: f.uuid(),
  email: f.text({ format: 'email', example: 'ada@example.com' }),
  name: f.text({ example: 'Ada' }),
  data: f.json(),
  email_verified_at: f.nullable(f.timeText()),
  banned_until: f.nullable(f.timeText()),
  invited_at: f.nullable(f.timeText()),
  last_sign_in_at: f.nullable(f.timeText()),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export class AdminUserEnvelopeResponse extends model({
  user: f.object(AdminUserResponse),
}) {}

export class AdminUsersResponse extends model({
  users: f.list(AdminUserResponse),
}) {}

class AuditEntryResponse extends model({
  id: f.text({ example: '42' }),
  at: f.timeText(),
  action: f.choice(AUDIT_ACTIONS),
  actor_id: f.nullable(f.uuid()),
  actor_role: f.choice(['anon', 'authenticated', 'service_role']),
  user_id: f.nullable(f.uuid()),
  ip: f.nullable(f.text()),
  user_agent: f.nullable(f.text()),
  details: f.json(),
}) {}

export class AuditEntriesResponse extends model({
  entries: f.list(AuditEntryResponse),
}) {}

class FailedMailResponse extends model({
  id: f.uuid(),
  kind: f.text({ description: 'The template: reset, verify, ...', example: 'reset' }),
  recipient: f.text({ example: 'ada@example.com' }),
  created_at: f.timeText(),
  attempts: f.whole({ minimum: 0, description: 'Deliveries that failed' }),
  last_error: f.nullable(f.text()),
}) {}

export class FailedMailsResponse extends model({
  mails: f.list(FailedMailResponse),
}) {}

export class MailContentResponse extends model({
  subject: f.text({ example: 'Set a new password' }),
  text: f.text({ example: 'Follow this link to set a new password: https://example.com/reset?token=...' }),
  html: f.text({
    example:
      '<p>Follow <a href="https://example.com/reset?token=...">this link</a> to set a new password.</p>',
  }),
}) {}

class AdminSessionResponse extends model(SessionMetadataResponse, {
  aal: f.choice(['aal1', 'aal2'], '`aal2`: with a second factor'),
}) {}

export class AdminSessionsResponse extends model({
  sessions: f.list(AdminSessionResponse),
}) {}
