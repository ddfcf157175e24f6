/** The OpenAPI document of a project, with its tables typed (DECISIONS.md 7). */
import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { isNotModified } from '../../common/http/preconditions';
import { ProjectDocumentService } from '../project/project-document.service';

@ApiExcludeController()
@Controller('p/:project_slug')
@UseGuards(ApiKeyGuard, BearerGuard)
export class ProjectDocsController {
  constructor(private readonly documents: ProjectDocumentService) {}

  @Get('openapi.json')
  async openapi(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { body, etag } = await this.documents.get(caller);
    // What is in it depends on who asks.
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
    if (isNotModified({ ifNoneMatch: request.get('if-none-match') }, { etag, lastModified: Infinity })) {
      response.writeHead(304, headers).end();
      return;
    }
    response.writeHead(200, {
      ...headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': body.length,
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }
}
