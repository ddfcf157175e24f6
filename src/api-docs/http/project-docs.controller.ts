/** A project's OpenAPI document, also at table REST's root as in PostgREST. */
import { Controller, Get, Options, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { formatOf, serveRoleDocument } from '../openapi/served-document';
import { ProjectDocumentsService } from '../project-documents.service';

const ROOTS = ['rest/v1', 'p/:project_slug/rest/v1'];

@ApiExcludeController()
@Controller()
@UseGuards(ApiKeyGuard, AdmissionGuard, BearerGuard)
export class ProjectDocsController {
  constructor(
    private readonly documents: ProjectDocumentsService,
    private readonly callers: CallerCheck,
  ) {}

  @Options(ROOTS)
  async allowed(@CurrentCaller() caller: Caller, @Res() response: Response): Promise<void> {
    await this.callers.assertValid(caller);
    response.writeHead(200, { Allow: 'OPTIONS,GET,HEAD', 'Content-Length': 0 }).end();
  }

  @Get([...ROOTS, 'p/:project_slug/openapi.json', 'p/:project_slug/openapi.yaml'])
  async openApi(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const [, syntax] = /\/openapi\.(json|yaml)\/?$/.exec(request.path) ?? [];
    const document = await this.documents.openApi(
      caller,
      formatOf(request, syntax === 'yaml' ? syntax : 'json'),
    );
    await serveRoleDocument(document, request, response, `application/${syntax ?? 'openapi+json'}`);
  }
}
