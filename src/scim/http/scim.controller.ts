/**
 * SCIM 2.0 (RFC 7644) for the people of the installation, and for the users of a project: what Entra ID and Okta need. The OpenAPI
 * document leaves it out (docs/reference/scim.md); directories know it.
 */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request } from 'express';
import type { JsonObject } from '../../common/text/json';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { parseFilter, parsePatch, parseUser, toScimList, USER_SCHEMA } from '../scim-people';
import { scimGroupsUnused } from '../scim.errors';
import { Scim, type ScimCaller } from '../scim.service';
import { ScimGuard } from './scim.guard';

const MAX_PAGE = 200;
const OFF = { supported: false } as const;
const CORE = 'urn:ietf:params:scim:schemas:core:2.0';

function callerOf({ scim }: Request): ScimCaller {
  if (!scim) throw new Error('this route lacks ScimGuard');
  return scim;
}

@ApiExcludeController()
@UseGuards(ScimGuard)
@UseInterceptors(JsonBodyInterceptor)
@Controller(['scim/v2', 'p/:project_slug/scim/v2'])
export class ScimController {
  constructor(private readonly scim: Scim) {}

  @Get('Users')
  listPeople(
    @Req() request: Request,
    @Query() { filter, startIndex, count }: Readonly<Record<string, unknown>>,
  ): Promise<JsonObject> {
    const offset = numberOf(startIndex, 1, 1, 1_000_000_000) - 1;
    return this.scim.list(callerOf(request), parseFilter(filter), {
      offset,
      limit: numberOf(count, 100, 0, MAX_PAGE),
    });
  }

  @Post('Users')
  createPerson(
    @Req() request: Request,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.scim.create(callerOf(request), parseUser(body), origin);
  }

  @Get('Users/:id')
  getPerson(@Req() request: Request, @Param('id') id: string): Promise<JsonObject> {
    return this.scim.get(callerOf(request), id);
  }

  @Put('Users/:id')
  replacePerson(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.scim.update(callerOf(request), id, parseUser(body), origin);
  }

  @Patch('Users/:id')
  patchPerson(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.scim.update(callerOf(request), id, parsePatch(body), origin);
  }

  @Delete('Users/:id')
  @HttpCode(204)
  removePerson(
    @Req() request: Request,
    @Param('id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    return this.scim.remove(callerOf(request), id, origin);
  }

  @Get('Groups')
  listGroups(): JsonObject {
    return toScimList([], 0, 1);
  }

  @Post('Groups')
  createGroup(): never {
    throw scimGroupsUnused();
  }

  @Get('ServiceProviderConfig')
  getConfig(): JsonObject {
    return {
      schemas: [`${CORE}:ServiceProviderConfig`],
      patch: { supported: true },
      bulk: { ...OFF, maxOperations: 0, maxPayloadSize: 0 },
      filter: { supported: true, maxResults: MAX_PAGE },
      changePassword: OFF,
      sort: OFF,
      etag: OFF,
      authenticationSchemes: [
        { type: 'oauthbearertoken', name: 'Bearer token', description: 'The token of SCIM' },
      ],
    };
  }

  @Get('ResourceTypes')
  listResourceTypes(): JsonObject {
    const type = {
      schemas: [`${CORE}:ResourceType`],
      id: 'User',
      name: 'User',
      endpoint: '/Users',
      schema: USER_SCHEMA,
    };
    return toScimList([type], 1, 1);
  }
}

function numberOf(value: unknown, otherwise: number, least: number, most: number): number {
  const number = typeof value === 'string' && /^-?\d{1,12}$/.test(value) ? Number(value) : otherwise;
  return Math.min(Math.max(number, least), most);
}
