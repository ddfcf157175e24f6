/** Refuses requests by which a page of another origin would begin a session: its visitor would work in the attacker's account. */
import { CanActivate, ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { foreignOrigin } from '../staff.errors';

@Injectable()
export class OwnOriginGuard implements CanActivate {
  private readonly origin: string;

  constructor(@Inject(SERVER_CONFIG) { publicUrl }: ServerConfig) {
    this.origin = new URL(publicUrl).origin;
  }

  /** Browsers set these headers, and pages cannot; other clients send neither. */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const origin = request.get('origin');
    // The issuer of single sign-on sends browsers back with GET.
    if (request.method !== 'POST') return true;
    if (origin === undefined || origin === this.origin || request.get('sec-fetch-site') === 'same-origin')
      return true;
    // The server may be reached by another name than that of PUBLIC_URL.
    if (URL.canParse(origin) && new URL(origin).host === request.get('host')) return true;
    throw foreignOrigin();
  }
}
