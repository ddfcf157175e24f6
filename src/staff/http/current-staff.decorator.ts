/** Gives a controller the sender of the request, after StaffGuard. */
import { createParamDecorator, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Actor } from '../../install/audit/audit-log.repository';
import type { Person } from '../accounts/person';
import { actorOf, personOf, Staff } from '../roles/staff';

/** The sender; the route must use StaffGuard. */
export function staffOf({ staff }: Request): Staff {
  if (!staff) throw new Error('this route lacks StaffGuard');
  return staff;
}

const requestOf = (context: ExecutionContext): Request => context.switchToHttp().getRequest<Request>();

export const CurrentStaff = createParamDecorator((_data: unknown, context: ExecutionContext): Staff =>
  staffOf(requestOf(context)),
);

/** The person; the route must use PersonGuard or StaffSessionGuard. */
export const CurrentPerson = createParamDecorator((_data: unknown, context: ExecutionContext): Person => {
  const person = personOf(staffOf(requestOf(context)));
  if (!person) throw new Error('this route lacks PersonGuard');
  return person;
});

/** The author of a change, for the audit log. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const request = requestOf(context);
  return actorOf(staffOf(request), request.ip ?? null);
});
