/** The root of the installation: name, version and links (DECISIONS.md 7). */
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { HtmlPage } from '../../http/errors/error-renderer';
import { escapeHtml } from '../../common/text/html';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { PRODUCT } from '../../config/product';
import { plainPage } from '../../http/plain-page';
import { TourStep, tourSteps } from '../tour';

/** Links of the home page: paths without a leading slash, so that they work behind a proxy that adds a prefix. */
const LINKS = [
  { name: 'console', path: 'console', title: 'Console' },
  { name: 'guides', path: 'docs/guides', title: 'Guides and reference' },
  { name: 'docs', path: 'docs', title: 'API reference' },
  { name: 'openapi', path: 'openapi.json', title: 'OpenAPI document' },
  { name: 'tour', path: 'tour', title: 'Five-minute tour' },
  { name: 'health', path: 'health/ready', title: 'Health' },
] as const;

@ApiExcludeController()
@PublicRoute('name and version of the product, and links to pages that are public themselves')
@Controller()
export class HomeController {
  constructor(@Inject(SERVER_CONFIG) private readonly server: ServerConfig) {}

  /** HTML for browsers, JSON for other clients. */
  @Get()
  home(@Req() request: Request, @Res() response: Response): void {
    response.setHeader('Vary', 'Accept');
    if (request.accepts(['json', 'html']) === 'html') return send(response, homePage());
    const links = LINKS.map(({ name, path }): [string, string] => [name, `${this.server.publicUrl}/${path}`]);
    response.json({ name: 'plinth', version: PRODUCT.version, links: Object.fromEntries(links) });
  }

  @Get('tour')
  tour(@Res() response: Response): void {
    send(response, tourPage(tourSteps(this.server.publicUrl, PRODUCT.commandLine)));
  }
}

function send(response: Response, { headers, html }: HtmlPage): void {
  response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(html) });
  response.end(html);
}

function homePage(): HtmlPage {
  const links = LINKS.map(({ path, title }) => `<li><a href="${path}">${title}</a></li>`);
  return plainPage(
    'Plinth',
    `<p>Version ${escapeHtml(PRODUCT.version)}</p>\n<ul>\n${links.join('\n')}\n</ul>`,
  );
}

function tourPage(steps: readonly TourStep[]): HtmlPage {
  const sections = steps.map(
    ({ title, text, shell }) =>
      `<h2>${escapeHtml(title)}</h2>\n<p>${escapeHtml(text)}</p>\n<pre>${escapeHtml(shell)}</pre>`,
  );
  return plainPage('Five-minute tour', sections.join('\n'));
}
