/** Gives a controller the sender of the request, after StaffGuard. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Actor } from '../../install/audit/audit-log.repository';
import type { StaffMember } from '../accounts/staff-member';
import { actorOf, StaffCaller } from '../roles/staff';

/** The sender; the route must use StaffGuard. */
export function staffOf({ staff }: Request): StaffCaller {
  if (!staff) throw new Error('this route lacks StaffGuard');
  return staff;
}

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

export const CurrentStaff = createParamDecorator((_data: unknown, context: ExecutionContext): StaffCaller =>
  staffOf(requestOf(context)),
);

/** The staff member; the route must use StaffMemberGuard or StaffSessionGuard. */
export const CurrentStaffMember = createParamDecorator(
  (_data: unknown, context: ExecutionContext): StaffMember => {
    const { member } = staffOf(requestOf(context));
    if (!member) throw new Error('this route lacks StaffMemberGuard');
    return member;
  },
);

/** The author of a change, for the audit log. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const request = requestOf(context);
  return actorOf(staffOf(request), request.ip ?? null);
});
