/** Limits the requests of a client address to endpoints that need no sign-in. Comes after ApiKeyGuard. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, ThrottlerLimitDetail } from '@nestjs/throttler';
import type { Request } from 'express';
import { COUNT, type DocumentedHeaders } from '../../http/docs/documented-headers';
import { rateLimited } from '../../access/access.errors';

/** Headers of operations that count against the limit of requests of a client address, once the apikey was accepted. */
export const LIMIT_HEADERS: DocumentedHeaders = {
  'X-RateLimit-Limit': {
    description: 'Requests allowed per minute for the client address',
    schema: COUNT,
  },
  'X-RateLimit-Remaining': { description: 'Requests left in the current minute', schema: COUNT },
  'X-RateLimit-Reset': { description: 'Seconds until the current minute ends', schema: COUNT },
};

@Injectable()
export class ClientThrottlerGuard extends ThrottlerGuard {
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
