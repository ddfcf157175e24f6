/** The answers to requests that begin a session, or ask for the current one. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { type DocumentedHeaders, NOT_STORED, TEXT } from '../../http/docs/documented-headers';
import { installRoleOf, StaffCaller } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import type { SignedInStaff } from '../sessions/staff-sign-in.service';
import type { StaffSessionResponse } from './dto/staff-responses';

/** Headers of the answers that begin or end a session. */
export const SESSION_HEADERS: DocumentedHeaders = {
  'Set-Cookie': {
    description: 'The session: HttpOnly, SameSite=Strict, and with https Secure and the prefix `__Host-`',
    schema: TEXT,
  },
  ...NOT_STORED,
};

@Injectable()
export class SessionResponses {
  constructor(
    private readonly sessions: StaffSessions,
    private readonly cookies: SessionCookies,
  ) {}

  /** Sets the cookie of a session that begins. */
  begun(staff: SignedInStaff, response: Response): StaffSessionResponse {
    this.cookies.write(response, staff.session);
    return this.current(staff);
  }

  current(staff: StaffCaller): StaffSessionResponse {
    const { member, projects, session, token } = staff;
    return {
      person: {
        id: member?.id ?? null,
        email: member?.email ?? null,
        name: member?.name ?? 'PLATFORM_ADMIN_KEY',
        role: installRoleOf(staff),
        has_factor: member?.hasFactor ?? false,
        has_app: member?.hasApp ?? false,
      },
      projects,
      csrf_token: session && this.sessions.csrfToken(session.id),
      expires_at: session?.expiresAt ?? token?.expiresAt ?? null,
    };
  }
}
