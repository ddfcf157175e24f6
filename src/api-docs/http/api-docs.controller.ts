/** The OpenAPI document, and a page to read and try it. */
import { Controller, Get, Header, Inject, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { httpError } from '../../common/errors/app-error';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { DocumentService } from '../document.service';
import { DOCS_PAGE } from '../docs-page';
import { formatOf, serveDocument } from '../openapi/served-document';
import { docsPolicy, findAsset } from '../swagger-ui';

@ApiExcludeController()
@PublicRoute('the interface is not secret; projects and their tables are not in it')
@Controller()
export class ApiDocsController {
  constructor(
    private readonly document: DocumentService,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  @Get(['openapi.json', 'openapi.yaml'])
  async openApi(@Req() request: Request, @Res() response: Response): Promise<void> {
    const syntax = /\.yaml\/?$/.test(request.path) ? 'yaml' : 'json';
    const document = await this.document.written(formatOf(request, syntax));
    const options = { contentType: `application/${syntax}; charset=utf-8`, cacheControl: 'no-cache' };
    await serveDocument(document, request, response, options);
  }

  @Get('docs')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Referrer-Policy', 'no-referrer')
  page(@Res({ passthrough: true }) response: Response): string {
    response.setHeader('Content-Security-Policy', docsPolicy(this.server.publicUrl));
    return DOCS_PAGE;
  }

  @Get('docs/:asset')
  async asset(
    @Param('asset') name: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const asset = findAsset(name);
    if (!asset) throw httpError(404, 'There is no such page');
    const { content, contentType } = await asset;
    await serveDocument(content, request, response, { contentType, cacheControl: 'public, max-age=3600' });
  }
}
