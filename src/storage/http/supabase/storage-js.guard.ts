/**
 * Credentials as Supabase's clients send them: apikey and bearer, or one of the two. A single one has to be a key of the
 * project, since a user's token alone is not an apikey. What StorageAccessGuard checks is the same for both surfaces.
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
