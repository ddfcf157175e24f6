/** Groups of SCIM 2.0 (RFC 7644) and its discovery endpoints, for the same staff and users as ScimController. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { JsonObject } from '../../common/text/json';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { listOf, toProviderConfig, toResourceTypes, toSchemas } from '../scim-discovery';
import { parseGroup, parseGroupFilter, parseGroupPatch } from '../scim-groups';
import { isSelected, type ScimSelection, selected } from '../scim-people';
import { ScimGroups } from '../scim-groups.service';
import { scimResourceNotFound } from '../scim.errors';
import { callerOf, pageIn, ScimApi, type ScimQuery } from './scim-api.decorator';

@ScimApi()
@Controller(['scim/v2', 'p/:project_slug/scim/v2'])
export class ScimGroupsController {
  constructor(private readonly groups: ScimGroups) {}

  @Get('Groups')
  async listGroups(@Req() request: Request, @Query() query: ScimQuery): Promise<JsonObject> {
    const withMembers = isSelected('members', query);
    const filter = parseGroupFilter(query.filter);
    const list = await this.groups.list(callerOf(request), filter, pageIn(query), withMembers);
    const resources = (list.Resources as JsonObject[]).map((group) => selected(group, query));
    return { ...list, Resources: resources };
  }

  @Post('Groups')
  createGroup(
    @Req() request: Request,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.groups.create(callerOf(request), parseGroup(body), origin);
  }

  @Get('Groups/:id')
  async getGroup(
    @Req() request: Request,
    @Param('id') id: string,
    @Query() query: ScimSelection,
  ): Promise<JsonObject> {
    return selected(await this.groups.get(callerOf(request), id, isSelected('members', query)), query);
  }

  @Put('Groups/:id')
  replaceGroup(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.groups.updateGroup(callerOf(request), id, parseGroup(body), origin);
  }

  /** Returns no body, as Entra ID recommends: a group may have thousands of members. */
  @Patch('Groups/:id')
  @HttpCode(204)
  async patchGroup(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    await this.groups.updateGroup(callerOf(request), id, parseGroupPatch(body), origin);
  }

  @Delete('Groups/:id')
  @HttpCode(204)
  removeGroup(
    @Req() request: Request,
    @Param('id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    return this.groups.remove(callerOf(request), id, origin);
  }

  @Get('ServiceProviderConfig')
  getConfig(@Req() request: Request): JsonObject {
    return toProviderConfig(callerOf(request).base);
  }

  @Get('ResourceTypes')
  listResourceTypes(@Req() request: Request): JsonObject {
    return listOf(toResourceTypes(callerOf(request).base));
  }

  @Get('ResourceTypes/:id')
  getResourceType(@Req() request: Request, @Param('id') id: string): JsonObject {
    return known(toResourceTypes(callerOf(request).base), id);
  }

  @Get('Schemas')
  listSchemas(@Req() request: Request): JsonObject {
    return listOf(toSchemas(callerOf(request).base));
  }

  @Get('Schemas/:id')
  getSchema(@Req() request: Request, @Param('id') id: string): JsonObject {
    return known(toSchemas(callerOf(request).base), id);
  }
}

function known(resources: readonly JsonObject[], id: string): JsonObject {
  const found = resources.find((one) => one.id === id);
  if (!found) throw scimResourceNotFound();
  return found;
}
