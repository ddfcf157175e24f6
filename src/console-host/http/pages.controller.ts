/** The guides, the reference and the internals: pages that the build of the console made of docs/. */
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { httpError } from '../../common/errors/app-error';
import { PRODUCT } from '../../config/product';
import { consoleFolder, readPages } from '../console-files';
import { sendFile } from './static-files';

/** One script, one style and the index of the search, all of this origin. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

@ApiExcludeController()
@PublicRoute('the pages of the documentation, which are public in the repository')
@Controller()
export class PagesController {
  private readonly pages = readPages(consoleFolder(PRODUCT.root));

  @Get(['docs/guides', 'docs/:section/:page'])
  async page(@Req() request: Request, @Res() response: Response): Promise<void> {
    if (!this.pages) throw httpError(404, 'The pages were not built: npm run build --prefix console');
    const name = request.path.slice('/docs/'.length);
    const file = this.pages.files.get(`${name}.html`) ?? this.pages.files.get(name);
    if (!file) throw httpError(404, 'There is no such page');
    await sendFile(file, this.pages.digest, request, response, HEADERS);
  }
}
