/** Users of SCIM 2.0 (RFC 7644), as Entra ID and Okta need them: staff of the installation, or users of a project. */
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import type { JsonObject } from '../../common/text/json';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { parseFilter, parsePatch, parseUser, type ScimSelection, selected } from '../scim-people';
import { Scim } from '../scim.service';
import { callerOf, pageIn, ScimApi, type ScimQuery } from './scim-api.decorator';

@ScimApi()
@Controller(['scim/v2', 'p/:project_slug/scim/v2'])
export class ScimController {
  constructor(private readonly scim: Scim) {}

  @Get('Users')
  async listPeople(@Req() request: Request, @Query() query: ScimQuery): Promise<JsonObject> {
    const list = await this.scim.list(callerOf(request), parseFilter(query.filter), pageIn(query));
    const resources = (list.Resources as JsonObject[]).map((person) => selected(person, query));
    return { ...list, Resources: resources };
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
  async getPerson(
    @Req() request: Request,
    @Param('id') id: string,
    @Query() query: ScimSelection,
  ): Promise<JsonObject> {
    return selected(await this.scim.get(callerOf(request), id), query);
  }

  @Put('Users/:id')
  replacePerson(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.scim.updateUser(callerOf(request), id, parseUser(body), origin);
  }

  @Patch('Users/:id')
  patchPerson(
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<JsonObject> {
    return this.scim.updateUser(callerOf(request), id, parsePatch(body), origin);
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
}
