/** Credentials as Supabase's clients send them: apikey and bearer, or one of the two. A single one has to be a key of the project. */
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from '../../access/access-rule';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { bearerToken } from '../../access/bearer-token';
import { BearerGuard } from '../../access/bearer.guard';
import { CallerCheck } from '../../access/caller-check.service';
import { callerOf } from '../../access/current-caller.decorator';

@Injectable()
@Checks('apikey', 'bearer')
export class RealtimeGuard implements CanActivate {
  constructor(
    private readonly apiKey: ApiKeyGuard,
    private readonly admission: AdmissionGuard,
    private readonly bearer: BearerGuard,
    private readonly callers: CallerCheck,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const { headers } = request;
    if (headers.apikey === undefined) headers.apikey = bearerToken(headers.authorization) ?? undefined;
    else headers.authorization ??= `Bearer ${String(headers.apikey)}`;
    await this.apiKey.canActivate(context);
    this.admission.canActivate(context);
    await this.bearer.canActivate(context);
    await this.callers.assertValid(callerOf(request));
    return true;
  }
}
