/**
 * Checks apikey, bearer and the plan's rate limit, in this order. A single guard, because a request with
 * refused credentials must not count against the project (docs/reference/storage.md).
 */
import { CanActivate, ExecutionContext, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Checks } from '../../access/access-rule';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { projectOf } from '../../access/current-caller.decorator';
import { isDecodable, isQueryDecodable } from '../../http/syntax/percent-encoding';
import { StorageRateLimiter } from '../../limits/storage-rate-limiter';
import { invalidParameters } from '../storage.errors';
import { countRequest } from './rate-headers';

@Injectable()
@Checks('apikey', 'bearer')
export class StorageAccessGuard implements CanActivate {
  constructor(
    private readonly apiKey: ApiKeyGuard,
    private readonly admission: AdmissionGuard,
    private readonly bearer: BearerGuard,
    private readonly limiter: StorageRateLimiter,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    // Responses with the bytes of files replace this value.
    response.setHeader('Cache-Control', 'no-store');
    await this.apiKey.canActivate(context);
    this.admission.canActivate(context);
    await this.bearer.canActivate(context);
    await countRequest(this.limiter, projectOf(request), response);
    if (!isDecodable(request.originalUrl) || !isQueryDecodable(request.originalUrl))
      throw invalidParameters('The URL is not percent-encoded UTF-8');
    return true;
  }
}
