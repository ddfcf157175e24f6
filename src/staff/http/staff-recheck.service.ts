/** Asks again, during an answer that goes on for minutes, whether its sender may still have it. */
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../common/time/clock';
import type { Identity } from '../accounts/staff-member';
import type { StaffCaller } from '../roles/staff';
import { StaffSessionRepository } from '../sessions/staff-session.repository';
import { StaffTokenRepository } from '../tokens/staff-token.repository';
import { staffOf } from './current-staff.decorator';
import { decisionAbout } from './route-decision';

@Injectable()
export class StaffRecheck {
  constructor(
    private readonly sessions: StaffSessionRepository,
    private readonly tokens: StaffTokenRepository,
    private readonly clock: Clock,
  ) {}

  /** False once the session or token has ended, the account is disabled, or the role is gone. */
  async isStillAllowed(request: Request): Promise<boolean> {
    const staff = staffOf(request);
    // PLATFORM_ADMIN_KEY does not change while the process runs.
    if (!staff.identity) return true;
    const identity = await this.identityNow(staff);
    return identity !== null && decisionAbout(request, { ...staff, identity }) === 'yes';
  }

  private async identityNow({ session, token }: StaffCaller): Promise<Identity | null> {
    const now = new Date(this.clock.now());
    if (session) return this.sessions.identityOf(session.id, now);
    return token ? this.tokens.identityOf(token.id, now) : null;
  }
}
