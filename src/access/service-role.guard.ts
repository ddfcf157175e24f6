/** Admits requests whose apikey or bearer is the service-role key. Comes after BearerGuard. */
import { CanActivate, ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { Checks } from './access-rule';
import { serviceRoleRequired, unconfirmedView } from './access.errors';
import { READING_METHODS } from './bearer.guard';
import { isService } from './caller';
import { CallerCheck } from './caller-check.service';

const CHANGES_NO_ACCOUNT = 'plinth:changes-no-account';

/** For routes that "view as" may use without a recent proof of identity. */
export const ChangesNoAccount = (): ClassDecorator => SetMetadata(CHANGES_NO_ACCOUNT, true);

@Injectable()
@Checks('service_role')
export class ServiceRoleGuard implements CanActivate {
  constructor(
    private readonly callers: CallerCheck,
    private readonly reflector: Reflector,
  ) {}

  /** Checks in the database a user's token that is sent with the key: the route itself does not use the token. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { caller, method } = context.switchToHttp().getRequest<Request>();
    if (!caller || !isService(caller)) throw serviceRoleRequired();
    const mayChange =
      caller.tokenClaims.unconfirmed !== true ||
      this.reflector.get<boolean>(CHANGES_NO_ACCOUNT, context.getClass());
    if (!mayChange && !READING_METHODS.has(method)) throw unconfirmedView();
    if (caller.sessionId !== null) await this.callers.assertValid(caller);
    return true;
  }
}
