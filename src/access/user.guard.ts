/** Admits requests whose bearer is a token of a user. Comes after BearerGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { UUID } from '../common/text/uuid';
import { Checks } from './access-rule';
import { invalidCredentials } from './access.errors';
import { CallerCheck } from './caller-check.service';

@Injectable()
@Checks('user')
export class UserGuard implements CanActivate {
  constructor(private readonly callers: CallerCheck) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller } = context.switchToHttp().getRequest<Request>();
    const isOfUser = caller && caller.userId !== null && caller.issuer === undefined;
    if (!isOfUser || (caller.sessionId !== null && !UUID.test(caller.sessionId))) throw invalidCredentials();
    await this.callers.assertRole(caller);
    return true;
  }
}
