/** Serves the console under `/console`: its immutable assets, and its page at every other path (docs/reference/console.md). */
import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { httpError } from '../../common/errors/app-error';
import { PRODUCT } from '../../config/product';
import { type ConsoleBuild, consoleFolder, readConsole } from '../console-files';
import { baseOf, NOT_BUILT, PAGE_HEADERS, withBase } from '../console-page';
import { isCurrent, sendFile } from './static-files';

const ASSETS = 'assets/';
const YEAR_SECONDS = 31_536_000;

@ApiExcludeController()
@PublicRoute('the console is a static page; it calls the administration API, which requires a credential')
@Controller()
export class ConsoleController {
  private readonly build: ConsoleBuild | null = readConsole(consoleFolder(PRODUCT.root));

  /** Every path that is not a file has the same page: the page shows the screen that the path names. */
  @Get(['console', 'console/*path'])
  async serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    if (!this.build) return sendPage(request, response, NOT_BUILT.headers, NOT_BUILT.html);
    const name = request.path.slice('/console/'.length);
    if (this.build.files.has(name)) return this.sendFile(name, this.build, request, response);
    // A page in place of a missing script would cause a puzzling syntax error.
    if (name.startsWith(ASSETS)) throw httpError(404, 'There is no such file');
    const base = baseOf(request.path);
    const etag = `"${this.build.digest}-${base.split('/').length}"`;
    const html = withBase(this.build.page, base);
    sendPage(request, response, { ...PAGE_HEADERS, ETag: etag }, html);
  }

  private async sendFile(
    name: string,
    { files }: ConsoleBuild,
    request: Request,
    response: Response,
  ): Promise<void> {
    // The name contains the hash of the content.
    await sendFile(files.get(name)!, name.replaceAll(/[^\w.-]/g, '_'), request, response, {
      'Cache-Control': name.startsWith(ASSETS) ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
      'X-Content-Type-Options': 'nosniff',
    });
  }
}

function sendPage(
  request: Request,
  response: Response,
  headers: Readonly<Record<string, string>>,
  html: string,
): void {
  if (headers.ETag !== undefined && isCurrent(request, headers.ETag)) {
    response.writeHead(304, headers).end();
    return;
  }
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(html) });
  response.end(request.method === 'HEAD' ? undefined : html);
}
