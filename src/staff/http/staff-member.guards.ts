/** Guards of routes about the sender's own account. They come after StaffGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from '../../access/access-rule';
import { staffMemberRequired, sessionRequired } from '../staff.errors';
import { staffOf } from './current-staff.decorator';

/** Refuses PLATFORM_ADMIN_KEY, which belongs to no person. */
@Injectable()
@Checks('staff_member')
export class StaffMemberGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!staffOf(context.switchToHttp().getRequest<Request>()).identity) throw staffMemberRequired();
    return true;
  }
}

/** Admits sessions only: a token, which scripts hold, must not change how its staff member signs in. */
@Injectable()
@Checks('staff_session')
export class StaffSessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (!staffOf(context.switchToHttp().getRequest<Request>()).session) throw sessionRequired();
    return true;
  }
}
