/** Platform administration: the tokens with which directories provision people (docs/reference/scim.md). */
import { Controller, Delete, HttpCode, Inject, Injectable, Param, Post } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';
import { newSecretToken } from '../../identity/secret-token';
import type { Actor } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { scimTokenNotFound } from '../scim.errors';
import { ScimRepository, type ScimScope } from '../scim.repository';

/** The prefix of a token, by which scanners find leaked tokens. */
const PREFIX = 'plscim_';

export class ScimTokenResponse extends f.model({
  token: f.text('Shown only now', { example: 'plscim_Jx2s9QhT4mYb7uVw0cNzK1pRfLgD8eAo3iS6tXq5HnE' }),
  url: f.text('The address for the directory', { example: 'https://plinth.example.com/scim/v2' }),
}) {}

@Injectable()
export class ScimTokens {
  constructor(
    private readonly tokens: ScimRepository,
    private readonly projects: ProjectRegistry,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  /** @throws AppError 404 for an unknown project */
  async create(scope: ScimScope, actor: Actor): Promise<ScimTokenResponse> {
    const path = scope === null ? '' : `/p/${(await this.projects.get(scope)).slug}`;
    const { token, hash } = newSecretToken(PREFIX);
    const entry = { actor, action: 'scim_token.create', projectId: scope };
    await this.tokens.replaceToken(scope, hash, this.clock.date(), entry);
    return { token, url: `${this.server.publicUrl}${path}/scim/v2` };
  }

  /** @throws AppError 404 for an unknown project */
  async remove(scope: ScimScope, actor: Actor): Promise<void> {
    if (scope !== null) await this.projects.get(scope);
    const entry = { actor, action: 'scim_token.delete', projectId: scope };
    if (!(await this.tokens.replaceToken(scope, null, this.clock.date(), entry))) throw scimTokenNotFound();
  }
}

@StaffApi()
@Controller('admin/v1')
export class ScimTokensController {
  constructor(private readonly tokens: ScimTokens) {}

  @Post('scim-token')
  @Describe(`Create the token with which a directory provisions staff by SCIM 2.0
    Needs the role owner: the directory may disable and delete every account. The former token ends.`)
  @Answer(201, 'The token and the address', ScimTokenResponse)
  createScimToken(@CurrentActor() actor: Actor): Promise<ScimTokenResponse> {
    return this.tokens.create(null, actor);
  }

  @Delete('scim-token')
  @HttpCode(204)
  @Describe(`Delete the token with which a directory provisions staff
    Needs the role owner. It is refused at once; the accounts stay.`)
  @Answer(204, 'The token is deleted')
  @Errors(scimTokenNotFound())
  deleteScimToken(@CurrentActor() actor: Actor): Promise<void> {
    return this.tokens.remove(null, actor);
  }

  @Post('projects/:id/scim-token')
  @Describe(`Create the token with which a directory provisions the users of a project by SCIM 2.0
    Needs an administrator of the project. The former token ends.`)
  @Answer(201, 'The token and the address', ScimTokenResponse)
  createProjectScimToken(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ScimTokenResponse> {
    return this.tokens.create(id, actor);
  }

  @Delete('projects/:id/scim-token')
  @HttpCode(204)
  @Describe(`Delete the token with which a directory provisions the users of a project
    Needs an administrator of the project. It is refused at once; the users stay.`)
  @Answer(204, 'The token is deleted')
  @Errors(scimTokenNotFound())
  deleteProjectScimToken(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.tokens.remove(id, actor);
  }
}
