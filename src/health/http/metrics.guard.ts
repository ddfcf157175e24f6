/** Admits scrapers of the metrics: through METRICS_PORT, with METRICS_TOKEN, or with the platform admin key. */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from '../../access/access-rule';
import { invalidCredentials, missingBearer } from '../../access/access.errors';
import { SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { equalSecrets } from '../../infra/crypto/constant-time';

@Injectable()
@Checks('metrics_token')
export class MetricsGuard implements CanActivate {
  private readonly accepted: readonly string[];

  constructor(@Inject(SECRETS_CONFIG) { platformAdminKey, metricsToken }: SecretsConfig) {
    this.accepted = metricsToken === null ? [platformAdminKey] : [platformAdminKey, metricsToken];
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.context?.isOfMetrics) return true;
    const header = request.get('authorization');
    if (!header) throw missingBearer();
    const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
    const isKnown = token !== undefined && this.accepted.some((secret) => equalSecrets(token, secret));
    if (!isKnown) throw invalidCredentials();
    return true;
  }
}
