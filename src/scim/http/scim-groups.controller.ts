/** Groups of SCIM 2.0 (RFC 7644) and its discovery endpoints, for the same staff and users as ScimController. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import type { JsonObject } from '../../common/text/json';
import { listOf, toProviderConfig, toResourceTypes, toSchemas } from '../scim-discovery';
import { parseGroup, parseGroupFilter, parseGroupPatch } from '../scim-groups';
import { isSelected, type ScimSelection, selected } from '../scim-people';
import { ScimGroups } from '../scim-groups.service';
import { scimResourceNotFound } from '../scim.errors';
import type { ScimCaller } from '../scim.service';
import { CurrentDirectory, pageIn, ScimApi, type ScimQuery } from './scim-api.decorator';

@ScimApi()
@Controller(['scim/v2', 'p/:project_slug/scim/v2'])
export class ScimGroupsController {
  constructor(private readonly groups: ScimGroups) {}

  @Get('Groups')
  async listGroups(@CurrentDirectory() caller: ScimCaller, @Query() query: ScimQuery): Promise<JsonObject> {
    const withMembers = isSelected('members', query);
    const filter = parseGroupFilter(query.filter);
    const list = await this.groups.list(caller, filter, pageIn(query), withMembers);
    const resources = (list.Resources as JsonObject[]).map((group) => selected(group, query));
    return { ...list, Resources: resources };
  }

  @Post('Groups')
  createGroup(@CurrentDirectory() caller: ScimCaller, @Body() body: unknown): Promise<JsonObject> {
    return this.groups.create(caller, parseGroup(body));
  }

  @Get('Groups/:id')
  async getGroup(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Query() query: ScimSelection,
  ): Promise<JsonObject> {
    return selected(await this.groups.get(caller, id, isSelected('members', query)), query);
  }

  @Put('Groups/:id')
  replaceGroup(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<JsonObject> {
    return this.groups.updateGroup(caller, id, parseGroup(body));
  }

  /** Returns no body, as Entra ID recommends: a group may have thousands of members. */
  @Patch('Groups/:id')
  @HttpCode(204)
  async patchGroup(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<void> {
    await this.groups.updateGroup(caller, id, parseGroupPatch(body));
  }

  @Delete('Groups/:id')
  @HttpCode(204)
  removeGroup(@CurrentDirectory() caller: ScimCaller, @Param('id') id: string): Promise<void> {
    return this.groups.remove(caller, id);
  }

  @Get('ServiceProviderConfig')
  getConfig(@CurrentDirectory() caller: ScimCaller): JsonObject {
    return toProviderConfig(caller.base);
  }

  @Get('ResourceTypes')
  listResourceTypes(@CurrentDirectory() caller: ScimCaller): JsonObject {
    return listOf(toResourceTypes(caller.base));
  }

  @Get('ResourceTypes/:id')
  getResourceType(@CurrentDirectory() caller: ScimCaller, @Param('id') id: string): JsonObject {
    return known(toResourceTypes(caller.base), id);
  }

  @Get('Schemas')
  listSchemas(@CurrentDirectory() caller: ScimCaller): JsonObject {
    return listOf(toSchemas(caller.base));
  }

  @Get('Schemas/:id')
  getSchema(@CurrentDirectory() caller: ScimCaller, @Param('id') id: string): JsonObject {
    return known(toSchemas(caller.base), id);
  }
}

function known(resources: readonly JsonObject[], id: string): JsonObject {
  const found = resources.find((one) => one.id === id);
  if (!found) throw scimResourceNotFound();
  return found;
}
