/** A project's schema as types of TypeScript (docs/typescript.md). */
import { Controller, Get, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { invalidParameters } from '../../common/errors/http-errors';
import { ProjectTypesService, TYPES_LANGUAGES, type TypesLanguage } from '../types/project-types.service';
import { serveDocument } from '../openapi/served-document';

@ApiExcludeController()
@Controller()
@UseGuards(ApiKeyGuard, AdmissionGuard, BearerGuard)
export class ProjectTypesController {
  constructor(private readonly types: ProjectTypesService) {}

  @Get('p/:project_slug/types.ts')
  async typesOf(
    @CurrentCaller() caller: Caller,
    @Query('lang') lang: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const document = await this.types.get(caller, languageOf(lang));
    // Not video/mp2t, which servers send for the ending.
    serveDocument(document, request, response, {
      contentType: 'text/plain',
      cacheControl: 'private, no-cache',
    });
  }
}

function languageOf(lang: unknown): TypesLanguage {
  if (lang === undefined) return 'typescript';
  const known = TYPES_LANGUAGES.find((one) => one === lang);
  if (!known) throw invalidParameters(`lang is one of: ${TYPES_LANGUAGES.join(', ')}`);
  return known;
}
