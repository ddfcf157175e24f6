/** Admits requests whose Authorization header is a valid token of the project. Comes after ApiKeyGuard. */
import { ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { Checks } from './access-rule';
import { invalidCredentials, missingBearer, readOnlyCredentials } from './access.errors';
import { bearerToken } from './bearer-token';
import type { Caller } from './caller';
import { BearerStrategy } from './strategies/bearer.strategy';
import type { VerifiedApiKey } from './strategies/api-key.strategy';
import { guardOptions } from './strategies/verification';
import { NamedKeys } from './named-keys.service';
import { VerifiedCredentials } from './verified-credentials';

@Injectable()
@Checks('bearer')
export class BearerGuard extends AuthGuard() {
  constructor(
    private readonly verified: VerifiedCredentials,
    private readonly named: NamedKeys,
    private readonly strategy: BearerStrategy,
  ) {
    super(guardOptions('caller', strategy));
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const header = request.get('authorization');
    if (!header) throw missingBearer();
    const token = bearerToken(header);
    if (token === null) throw invalidCredentials();
    const { apiKey } = request;
    if (!apiKey) throw new Error('BearerGuard needs ApiKeyGuard before it');
    const known = this.verified.findCaller(apiKey, token);
    if (known) request.caller = known;
    else await this.verify(context, apiKey, token);
    if (request.caller) {
      this.named.noteUse(apiKey.project, request.caller.named);
      assertMayChange(request, request.caller);
    }
    return true;
  }

  private async verify(context: ExecutionContext, apiKey: VerifiedApiKey, token: string): Promise<void> {
    const request = context.switchToHttp().getRequest<Request>();
    const verified =
      this.named.asCaller(apiKey, token) ?? (await this.strategy.verifyWithPublicKey(apiKey, token));
    if (verified === false) throw invalidCredentials();
    if (verified) request.caller = verified;
    else await super.canActivate(context);
    const { caller } = request;
    if (caller) this.verified.rememberCaller(apiKey, token, caller);
  }

  override handleRequest<T>(error: Error | null, caller: T, info: unknown): T {
    if (error) throw error;
    if (!caller) throw invalidCredentials(info);
    return caller;
  }
}

export const READING_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** @throws AppError 403 */
function assertMayChange({ method }: Request, { readOnly }: Caller): void {
  if (readOnly && !READING_METHODS.has(method)) throw readOnlyCredentials();
}
