/**
 * Credentials as Supabase's clients send them: apikey and bearer, or only one of the two. If there is only one, it has to be a
 * key of the project, because a user's token alone is not an apikey. Otherwise the checks are those of StorageAccessGuard.
 */
import { ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Checks } from '../../../access/access-rule';
import { bearerToken } from '../../../access/bearer-token';
import { StorageAccessGuard } from '../storage-access.guard';

@Injectable()
@Checks('apikey', 'bearer')
export class StorageJsGuard extends StorageAccessGuard {
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers } = context.switchToHttp().getRequest<Request>();
    const apikey = headers.apikey;
    if (apikey === undefined) headers.apikey = bearerToken(headers.authorization) ?? undefined;
    else headers.authorization ??= `Bearer ${String(apikey)}`;
    return super.canActivate(context);
  }
}
