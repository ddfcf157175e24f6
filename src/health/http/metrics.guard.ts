/** Asks scrapers for METRICS_TOKEN where it is set. */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from '../../access/access-rule';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { equalSecrets } from '../../infra/crypto/constant-time';

@Injectable()
@Checks('metrics_token')
export class MetricsGuard implements CanActivate {
  constructor(@Inject(SECRETS_CONFIG) private readonly secrets: SecretsConfig) {}

  canActivate(context: ExecutionContext): boolean {
    const { metricsToken } = this.secrets;
    if (metricsToken === null) return true;
    const header = context.switchToHttp().getRequest<Request>().get('authorization');
    if (!header) throw missingBearer();
    const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
    if (!token || !equalSecrets(token, metricsToken)) throw invalidCredentials();
    return true;
  }
}
