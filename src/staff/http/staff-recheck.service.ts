/** Checks repeatedly, during a response that takes minutes, whether its sender may still receive it. */
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Clock } from '../../common/time/clock';
import type { MemberAccess } from '../accounts/staff-member';
import type { StaffCaller } from '../roles/staff';
import { StaffSessionRepository } from '../sessions/staff-session.repository';
import { StaffTokenRepository } from '../tokens/staff-token.repository';
import { staffOf } from './staff.guard';
import { decisionAbout } from './staff.guard';

@Injectable()
export class StaffRecheck {
  constructor(
    private readonly sessions: StaffSessionRepository,
    private readonly tokens: StaffTokenRepository,
    private readonly clock: Clock,
  ) {}

  /** False once the session or token has ended, the account is disabled, or the role has been removed. */
  async isStillAllowed(request: Request): Promise<boolean> {
    const staff = staffOf(request);
    // PLATFORM_ADMIN_KEY does not change while the process runs.
    if (!staff.member) return true;
    const access = await this.accessNow(staff);
    return access !== null && decisionAbout(request, { ...staff, ...access }) === 'yes';
  }

  private async accessNow({ session, token }: StaffCaller): Promise<MemberAccess | null> {
    const now = this.clock.date();
    if (session) return this.sessions.accessOf(session.id, now);
    return token ? this.tokens.accessOf(token.id, now) : null;
  }
}
