/** Checks the credentials of a WebSocket with the guards of requests: those of its upgrade, and each token that its client sends later. */
import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host';
import { AdmissionGuard } from './admission.guard';
import { ApiKeyGuard } from './api-key.guard';
import { BearerGuard } from './bearer.guard';
import type { Caller } from './caller';
import type { VerifiedApiKey } from './strategies/api-key.strategy';
import { VerifiedCredentials } from './verified-credentials';

@Injectable()
export class SocketCredentials {
  constructor(
    private readonly apiKeys: ApiKeyGuard,
    private readonly admission: AdmissionGuard,
    private readonly bearers: BearerGuard,
    private readonly verified: VerifiedCredentials,
  ) {}

  /** @param slug the slug in the path; undefined if the key alone names the project @throws AppError 401, 404, 429, 503 */
  async admit(token: string | undefined, slug: string | undefined): Promise<VerifiedApiKey> {
    const request = requestWith({ apikey: token }, { project_slug: slug });
    const apiKey = await this.verifyKey(request);
    this.admission.canActivate(contextOf(request));
    return apiKey;
  }

  /** Checks the key again, with the current secrets of its project; request quotas do not apply. @throws AppError 401 */
  async renewKey(token: string): Promise<VerifiedApiKey> {
    return this.verified.findKey(token) ?? this.verifyKey(requestWith({ apikey: token }, {}));
  }

  private async verifyKey(request: GuardedRequest): Promise<VerifiedApiKey> {
    await this.apiKeys.canActivate(contextOf(request));
    if (!request.apiKey) throw new Error('ApiKeyGuard set no key');
    return request.apiKey;
  }

  /** @param token the access token of a user, or a key of the project @throws AppError 401 */
  async callerOf(apiKey: VerifiedApiKey, token: string): Promise<Caller> {
    const known = this.verified.findCaller(apiKey, token);
    if (known) return known;
    const request = requestWith({ authorization: `Bearer ${token}` }, {});
    request.apiKey = apiKey;
    await this.bearers.canActivate(contextOf(request));
    if (!request.caller) throw new Error('BearerGuard set no caller');
    return request.caller;
  }
}

type Headers = Readonly<Record<string, string | undefined>>;

interface GuardedRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly params: Headers;
  get(name: string): string | undefined;
  apiKey?: VerifiedApiKey;
  caller?: Caller;
}

/** The parts of a request that the guards read. */
const requestWith = (headers: Headers, params: Headers): GuardedRequest => ({
  method: 'GET',
  headers,
  params,
  get: (name) => headers[name.toLowerCase()],
});

const contextOf = (request: GuardedRequest): ExecutionContext => new ExecutionContextHost([request, {}]);
