/** Limits the requests of a client address to endpoints that need no sign-in. Comes after ApiKeyGuard. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, ThrottlerLimitDetail } from '@nestjs/throttler';
import type { Request } from 'express';
import { rateLimited } from '../../access/access.errors';

@Injectable()
export class AuthThrottlerGuard extends ThrottlerGuard {
  /** Counts by project and client address (for IPv6 its /64 network). */
  protected override async getTracker(request: Request): Promise<string> {
    const address = await super.getTracker(request);
    return `${request.apiKey?.project.id ?? ''}:${address}`;
  }

  protected override throwThrottlingException(
    _context: ExecutionContext,
    detail: ThrottlerLimitDetail,
  ): Promise<void> {
    throw rateLimited(detail.timeToBlockExpire);
  }
}
