/** A project's TypeScript types, limited to what the caller's role may see. */
import { Controller, Get, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { collectDocument, serveRoleDocument } from '../../api-docs/openapi/served-document';
import { ProjectDocumentsService } from '../../api-docs/project-documents.service';
import { invalidParameters } from '../../common/errors/app-error';
import { projectTypes, TYPES_LANGUAGES, type TypesLanguage } from '../project-types';

@ApiExcludeController()
@Controller()
@UseGuards(ApiKeyGuard, AdmissionGuard, BearerGuard)
export class TypesController {
  constructor(private readonly documents: ProjectDocumentsService) {}

  @Get('p/:project_slug/types.ts')
  async types(
    @CurrentCaller() caller: Caller,
    @Query('lang') lang: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const language = languageOf(lang);
    const types = await this.documents.get(caller, { language }, (source) =>
      collectDocument(projectTypes(source, language)),
    );
    // Not video/mp2t, which servers send for the extension .ts.
    await serveRoleDocument(types, request, response, 'text/plain');
  }
}

function languageOf(lang: unknown = 'typescript'): TypesLanguage {
  const known = TYPES_LANGUAGES.find((one) => one === lang);
  if (!known) throw invalidParameters(`lang is one of: ${TYPES_LANGUAGES.join(', ')}`);
  return known;
}
