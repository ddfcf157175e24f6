/** Platform administration: the named keys of projects (docs/reference/administration.md). */
import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Clock } from '../../common/time/clock';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import type { ApiKey } from '../api-keys';
import { ApiKeysService } from '../api-keys.service';
import { ANON_ROLE, SERVICE_ROLE } from '../project-keys';
import { MAX_KEYS } from '../project-key-lists.service';
import { keyNotFound, tooManyKeys, unknownRole } from '../projects.errors';
import {
  ApiKeyResponse,
  CreateApiKeyDto,
  CreatedApiKeyResponse,
  RevokedApiKeyResponse,
} from './dto/api-keys.dto';

const PUBLIC_SERVICE_ROLE = 'role: a publishable key cannot have service_role, since everybody can read it';

@StaffApi()
@Controller('admin/v1/projects/:id/api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Describe(`List the named keys of a project
    Without their text. The two keys of the project are not among them.`)
  @Answer(200, 'The keys, the oldest first', [ApiKeyResponse])
  async listApiKeys(@Param('id') id: string): Promise<ApiKeyResponse[]> {
    return (await this.keys.list(id)).map(({ key, lastUsedAt }) => toResponse(key, lastUsedAt));
  }

  @Post()
  @Describe(`Create a named key for a project
    It is used like the two keys of the project, as apikey and as bearer, and revoked alone. Only this response contains it.`)
  @Answer(201, 'The key with its text', CreatedApiKeyResponse)
  @Errors(invalidParameters(PUBLIC_SERVICE_ROLE), unknownRole('reporting'), tooManyKeys(MAX_KEYS))
  async createApiKey(
    @Param('id') id: string,
    @StrictBody() { name, kind, role, expires_in }: CreateApiKeyDto,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedApiKeyResponse> {
    const rights = {
      name,
      kind,
      role: role ?? (kind === 'secret' ? SERVICE_ROLE : ANON_ROLE),
      expires_at: typeof expires_in === 'number' ? this.clock.now() + expires_in * 1_000 : null,
    };
    if (kind === 'publishable' && role === SERVICE_ROLE) throw invalidParameters(PUBLIC_SERVICE_ROLE);
    const { key, text } = await this.keys.create(id, rights, actor);
    return { ...toResponse(key, null), key: text };
  }

  @Delete(':key_id')
  @Describe(`Revoke a named key of a project
    Requests with it are refused at once, and open sockets end.`)
  @Answer(200, 'The key is revoked', RevokedApiKeyResponse)
  @Errors(keyNotFound())
  async revokeApiKey(
    @Param('id') id: string,
    @Param('key_id') keyId: string,
    @CurrentActor() actor: Actor,
  ): Promise<RevokedApiKeyResponse> {
    await this.keys.revoke(id, keyId, actor);
    return { id: keyId, revoked: true };
  }
}

const toResponse = (
  { id, name, kind, role, created_at, expires_at }: ApiKey,
  lastUsedAt: Date | null,
): ApiKeyResponse => ({
  id,
  name,
  kind,
  role,
  created_at: new Date(created_at),
  expires_at: expires_at === null ? null : new Date(expires_at),
  last_used_at: lastUsedAt,
});
