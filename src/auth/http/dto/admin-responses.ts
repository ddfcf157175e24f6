/** Answers of the administration, for the OpenAPI document. */
import { AUDIT_ACTIONS } from '../../audit/audit-entry';
import { SessionMetadataResponse } from './auth-responses';
import * as f from '../../../http/model/fields';
import type { Account } from '../../accounts/account';

class AdminUserResponse extends f.model({
  id: f.uuid(),
  email: f.text({ format: 'email', example: 'ada@example.com' }),
  name: f.text({ example: 'Ada' }),
  data: f.json(),
  email_verified_at: f.nullable.timeText(),
  banned_until: f.nullable.timeText(),
  invited_at: f.nullable.timeText(),
  last_sign_in_at: f.nullable.timeText(),
  created_at: f.timeText(),
  updated_at: f.timeText(),
}) {}

export function toAdminUser(account: Account): AdminUserResponse {
  const { id, email, name, data } = account;
  return {
    id,
    email,
    name,
    data,
    email_verified_at: account.emailVerifiedAt?.toISOString() ?? null,
    banned_until: account.bannedUntil?.toISOString() ?? null,
    invited_at: account.invitedAt?.toISOString() ?? null,
    last_sign_in_at: account.lastSignInAt?.toISOString() ?? null,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}

export class AdminUserEnvelopeResponse extends f.model({
  user: f.object(AdminUserResponse),
}) {}

export class AdminUsersResponse extends f.model({
  users: f.list(AdminUserResponse),
}) {}

class AuditEntryResponse extends f.model({
  id: f.text({ example: '42' }),
  at: f.timeText(),
  action: f.choice(AUDIT_ACTIONS),
  actor_id: f.nullable.uuid(),
  actor_role: f.choice(['anon', 'authenticated', 'service_role']),
  user_id: f.nullable.uuid(),
  ip: f.nullable.text(),
  user_agent: f.nullable.text(),
  details: f.json(),
}) {}

export class AuditEntriesResponse extends f.model({
  entries: f.list(AuditEntryResponse),
}) {}

export class MailContentResponse extends f.model({
  subject: f.text({ example: 'Set a new password' }),
  text: f.text({ example: 'Follow this link to set a new password: https://example.com/reset?token=...' }),
  html: f.text({
    example:
      '<p>Follow <a href="https://example.com/reset?token=...">this link</a> to set a new password.</p>',
  }),
}) {}

class AdminSessionResponse extends f.model(SessionMetadataResponse, {
  aal: f.choice(['aal1', 'aal2'], '`aal2`: with a second factor'),
}) {}

export class AdminSessionsResponse extends f.model({
  sessions: f.list(AdminSessionResponse),
}) {}
