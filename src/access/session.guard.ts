/** Admits requests whose bearer is the access token of a session. Comes after BearerGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { UUID } from '../common/text/uuid';
import { Checks } from './access-rule';
import { invalidCredentials } from './access.errors';
import { CallerCheck } from './caller-check.service';

@Injectable()
@Checks('session')
export class SessionGuard implements CanActivate {
  constructor(private readonly callers: CallerCheck) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || caller.userId === null || !UUID.test(caller.sessionId ?? '')) throw invalidCredentials();
    await this.callers.assertRole(caller);
    return true;
  }
}
