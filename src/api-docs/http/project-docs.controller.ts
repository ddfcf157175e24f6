/** A project's OpenAPI document, also at table REST's root as in PostgREST, and its TypeScript types. */
import { Controller, Get, Options, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { formatOf, type ServedDocument, serveDocument } from '../openapi/served-document';
import { ProjectDocumentsService } from '../project-documents.service';
import { TYPES_LANGUAGES, type TypesLanguage } from '../types/project-types';

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
    await serve(document, request, response, `application/${syntax ?? 'openapi+json'}`);
  }

  @Get('p/:project_slug/types.ts')
  async types(
    @CurrentCaller() caller: Caller,
    @Query('lang') lang: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const document = await this.documents.types(caller, languageOf(lang));
    // Not video/mp2t, which servers send for the extension .ts.
    await serve(document, request, response, 'text/plain');
  }
}

/** Documents depend on the caller's role, so shared caches may not keep them. */
async function serve(
  document: ServedDocument,
  request: Request,
  response: Response,
  contentType: string,
): Promise<void> {
  await serveDocument(document, request, response, { contentType, cacheControl: 'private, no-cache' });
}

function languageOf(lang: unknown = 'typescript'): TypesLanguage {
  const known = TYPES_LANGUAGES.find((one) => one === lang);
  if (!known) throw invalidParameters(`lang is one of: ${TYPES_LANGUAGES.join(', ')}`);
  return known;
}
