/** Lets a request pass whose apikey or bearer is the service-role key. Comes after ApiKeyGuard and BearerGuard. */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { serviceRoleRequired } from './access.errors';
import { isService } from './caller';

@Injectable()
export class ServiceRoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { caller } = context.switchToHttp().getRequest<Request>();
    if (!caller || !isService(caller)) throw serviceRoleRequired();
    return true;
  }
}
