/** A project's OpenAPI document with typed tables (DECISIONS.md 7), also at table REST's root as in PostgREST. */
import { Controller, Get, Options, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { evaluatePreconditions } from '../../common/http/preconditions';
import { ProjectDocumentService } from '../project/project-document.service';

const ROOTS = ['rest/v1', 'p/:project_slug/rest/v1'];

@ApiExcludeController()
@Controller()
@UseGuards(ApiKeyGuard, BearerGuard)
export class ProjectDocsController {
  constructor(
    private readonly documents: ProjectDocumentService,
    private readonly callers: CallerCheck,
  ) {}

  @Options(ROOTS)
  async allowed(@CurrentCaller() caller: Caller, @Res() response: Response): Promise<void> {
    await this.callers.assertValid(caller);
    response.writeHead(200, { Allow: 'OPTIONS,GET,HEAD', 'Content-Length': 0 }).end();
  }

  @Get(ROOTS)
  root(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer(caller, request, response, 'application/openapi+json');
  }

  @Get('p/:project_slug/openapi.json')
  openapi(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.answer(caller, request, response, 'application/json');
  }

  private async answer(caller: Caller, request: Request, response: Response, type: string): Promise<void> {
    const { body, size, etag } = await this.documents.get(caller);
    // The document depends on the caller's role.
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
    const conditions = { ifNoneMatch: request.get('if-none-match') };
    if (evaluatePreconditions(conditions, { etag, lastModified: Infinity }) === 'not_modified') {
      response.writeHead(304, headers).end();
      return;
    }
    const head = {
      ...headers,
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': size,
    };
    if (request.method === 'HEAD') {
      response.writeHead(200, head).end();
      return;
    }
    await sendChunks(response, 200, head, body).catch((error: unknown) => {
      if (!(error instanceof ClientLeftError)) throw error;
    });
  }
}
