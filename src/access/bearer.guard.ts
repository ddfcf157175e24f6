/** Lets a request pass whose Authorization header is a valid token of the project. Comes after ApiKeyGuard. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { invalidCredentials, missingBearer } from './access.errors';

@Injectable()
export class BearerGuard extends AuthGuard('bearer') {
  constructor() {
    super({ property: 'caller' });
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    if (!request.get('authorization')) throw missingBearer();
    return (await super.canActivate(context)) as boolean;
  }

  override handleRequest<T>(error: unknown, caller: T, info: unknown): T {
    if (error) throw error as Error;
    if (!caller) throw invalidCredentials(info);
    return caller;
  }
}
