/** Admits requests whose apikey or bearer is the service-role key. Comes after BearerGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from './access-rule';
import { serviceRoleRequired } from './access.errors';
import { isService } from './caller';
import { CallerCheck } from './caller-check.service';

@Injectable()
@Checks('service_role')
export class ServiceRoleGuard implements CanActivate {
  constructor(private readonly callers: CallerCheck) {}

  /** Checks a user's token beside the key in the database: the route itself does not use the token. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || !isService(caller)) throw serviceRoleRequired();
    if (caller.sessionId !== null) await this.callers.assertValid(caller);
    return true;
  }
}
