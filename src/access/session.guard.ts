/** Admits requests whose bearer is the access token of a user's session, and not of an application's. Comes after BearerGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { UUID } from '../common/text/uuid';
import { Checks } from './access-rule';
import { invalidCredentials, ownSessionRequired } from './access.errors';
import { isOfApplication } from './caller';
import { CallerCheck } from './caller-check.service';

@Injectable()
@Checks('session')
export class SessionGuard implements CanActivate {
  constructor(private readonly callers: CallerCheck) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || caller.userId === null || !UUID.test(caller.sessionId ?? '')) throw invalidCredentials();
    if (isOfApplication(caller)) throw ownSessionRequired();
    await this.callers.assertRole(caller);
    return true;
  }
}
