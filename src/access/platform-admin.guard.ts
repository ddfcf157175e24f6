/** Admits requests whose bearer is PLATFORM_ADMIN_KEY. */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { SECRETS_CONFIG, SecretsConfig } from '../config/app-config';
import { equalSecrets } from '../infra/crypto/constant-time';
import { Checks } from './access-rule';
import { bearerToken } from './bearer-token';
import { invalidCredentials, missingBearer } from './access.errors';

@Injectable()
@Checks('platform_admin')
export class PlatformAdminGuard implements CanActivate {
  constructor(@Inject(SECRETS_CONFIG) private readonly secrets: SecretsConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const header = context.switchToHttp().getRequest<Request>().get('authorization');
    if (!header) throw missingBearer();
    const key = bearerToken(header);
    if (key === null || !equalSecrets(key, this.secrets.platformAdminKey)) throw invalidCredentials();
    return true;
  }
}
