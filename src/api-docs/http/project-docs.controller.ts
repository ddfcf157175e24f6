/** A project's OpenAPI document with typed tables (DECISIONS.md 7), also at table REST's root as in PostgREST. */
import { Controller, Get, Options, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { formatOf, serveDocument } from '../openapi/served-document';
import { ProjectDocumentService } from '../project/project-document.service';

const ROOTS = ['rest/v1', 'p/:project_slug/rest/v1'];

@ApiExcludeController()
@Controller()
@UseGuards(ApiKeyGuard, AdmissionGuard, BearerGuard)
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
  json(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer(caller, request, response, 'application/json');
  }

  @Get('p/:project_slug/openapi.yaml')
  yaml(@CurrentCaller() caller: Caller, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.answer(caller, request, response, 'application/yaml');
  }

  /** The document depends on the caller's role, so shared caches may not keep it. */
  private async answer(
    caller: Caller,
    request: Request,
    response: Response,
    contentType: string,
  ): Promise<void> {
    const format = formatOf(request, contentType.endsWith('yaml') ? 'yaml' : 'json');
    const document = await this.documents.get(caller, format);
    serveDocument(document, request, response, { contentType, cacheControl: 'private, no-cache' });
  }
}
