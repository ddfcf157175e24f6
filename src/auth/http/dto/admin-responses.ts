/** Answers of the administration, for the OpenAPI document. */
import { ApiProperty } from '@nestjs/swagger';
import { AUDIT_ACTIONS } from '../../audit/audit-entry';
import { Example } from '../../../http/docs/example.decorator';
import { UUID_EXAMPLE, FREE_OBJECT } from '../../../http/docs/documented-types';
import { SessionMetadataResponse } from './auth-responses';

const USER = {
  id: UUID_EXAMPLE,
  email: 'ada@example.com',
  name: 'Ada',
  data: { theme: 'dark' },
  email_verified_at: '2026-01-01T08:05:00.000Z',
  banned_until: null,
  invited_at: null,
  last_sign_in_at: '2026-01-02T08:00:00.000Z',
  created_at: '2026-01-01T08:00:00.000Z',
  updated_at: '2026-01-02T08:00:00.000Z',
};

class AdminUserResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ format: 'email' }) email!: string;
  @ApiProperty() name!: string;
  @ApiProperty(FREE_OBJECT) data!: object;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) email_verified_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) banned_until!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) invited_at!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true }) last_sign_in_at!: string | null;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ format: 'date-time' }) updated_at!: string;
}

@Example({ user: USER })
export class AdminUserEnvelopeResponse {
  @ApiProperty({ type: AdminUserResponse }) user!: AdminUserResponse;
}

@Example({ users: [USER] })
export class AdminUsersResponse {
  @ApiProperty({ type: [AdminUserResponse] }) users!: AdminUserResponse[];
}

class AuditEntryResponse {
  @ApiProperty() id!: string;
  @ApiProperty({ format: 'date-time' }) at!: string;
  @ApiProperty({ enum: AUDIT_ACTIONS }) action!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) actor_id!: string | null;
  @ApiProperty({ enum: ['anon', 'authenticated', 'service_role'] }) actor_role!: string;
  @ApiProperty({ type: String, format: 'uuid', nullable: true }) user_id!: string | null;
  @ApiProperty({ type: String, nullable: true }) ip!: string | null;
  @ApiProperty({ type: String, nullable: true }) user_agent!: string | null;
  @ApiProperty(FREE_OBJECT) details!: object;
}

@Example({
  entries: [
    {
      id: '1042',
      at: '2026-01-02T08:00:00.000Z',
      action: 'sign_in',
      actor_id: UUID_EXAMPLE,
      actor_role: 'anon',
      user_id: UUID_EXAMPLE,
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      details: {},
    },
  ],
})
export class AuditEntriesResponse {
  @ApiProperty({ type: [AuditEntryResponse] }) entries!: AuditEntryResponse[];
}

class FailedMailResponse {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ description: 'The template: reset, verify, ...' }) kind!: string;
  @ApiProperty() recipient!: string;
  @ApiProperty({ format: 'date-time' }) created_at!: string;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Deliveries that failed' }) attempts!: number;
  @ApiProperty({ type: String, nullable: true }) last_error!: string | null;
}

@Example({
  mails: [
    {
      id: UUID_EXAMPLE,
      kind: 'reset',
      recipient: 'ada@example.com',
      created_at: '2026-01-02T08:00:00.000Z',
      attempts: 8,
      last_error: '550 no such mailbox',
    },
  ],
})
export class FailedMailsResponse {
  @ApiProperty({ type: [FailedMailResponse] }) mails!: FailedMailResponse[];
}

@Example({
  subject: 'Set a new password',
  text: 'Follow this link to set a new password: https://example.com/reset?token=...',
  html: '<p>Follow <a href="https://example.com/reset?token=...">this link</a> to set a new password.</p>',
})
export class MailContentResponse {
  @ApiProperty() subject!: string;
  @ApiProperty() text!: string;
  @ApiProperty() html!: string;
}

class AdminSessionResponse extends SessionMetadataResponse {
  @ApiProperty({ enum: ['aal1', 'aal2'], description: '`aal2`: with a second factor' }) aal!: string;
}

@Example({
  sessions: [
    {
      id: UUID_EXAMPLE,
      created_at: '2026-01-01T08:00:00.000Z',
      last_seen_at: '2026-01-02T08:00:00.000Z',
      expires_at: '2026-02-01T08:00:00.000Z',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      aal: 'aal1',
    },
  ],
})
export class AdminSessionsResponse {
  @ApiProperty({ type: [AdminSessionResponse] }) sessions!: AdminSessionResponse[];
}
