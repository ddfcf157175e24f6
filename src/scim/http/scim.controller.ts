/** Users of SCIM 2.0 (RFC 7644), as Entra ID and Okta need them: staff of the installation, or users of a project. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import type { JsonObject } from '../../common/text/json';
import { parseFilter, parsePatch, parseUser, type ScimSelection, selected } from '../scim-people';
import { Scim, type ScimCaller } from '../scim.service';
import { CurrentDirectory, pageIn, ScimApi, type ScimQuery } from './scim-api.decorator';

@ScimApi()
@Controller(['scim/v2', 'p/:project_slug/scim/v2'])
export class ScimController {
  constructor(private readonly scim: Scim) {}

  @Get('Users')
  async listPeople(@CurrentDirectory() caller: ScimCaller, @Query() query: ScimQuery): Promise<JsonObject> {
    const list = await this.scim.list(caller, parseFilter(query.filter), pageIn(query));
    const resources = (list.Resources as JsonObject[]).map((person) => selected(person, query));
    return { ...list, Resources: resources };
  }

  @Post('Users')
  createPerson(@CurrentDirectory() caller: ScimCaller, @Body() body: unknown): Promise<JsonObject> {
    return this.scim.create(caller, parseUser(body));
  }

  @Get('Users/:id')
  async getPerson(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Query() query: ScimSelection,
  ): Promise<JsonObject> {
    return selected(await this.scim.get(caller, id), query);
  }

  @Put('Users/:id')
  replacePerson(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<JsonObject> {
    return this.scim.updateUser(caller, id, parseUser(body));
  }

  @Patch('Users/:id')
  patchPerson(
    @CurrentDirectory() caller: ScimCaller,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<JsonObject> {
    return this.scim.updateUser(caller, id, parsePatch(body));
  }

  @Delete('Users/:id')
  @HttpCode(204)
  removePerson(@CurrentDirectory() caller: ScimCaller, @Param('id') id: string): Promise<void> {
    return this.scim.remove(caller, id);
  }
}
