/** The root of the installation: name, version and links. */
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { HtmlPage } from '../../http/errors/error-renderer';
import { escapeHtml } from '../../common/text/html';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { PRODUCT } from '../../config/product';
import { plainPage } from '../../http/plain-page';

interface TourStep {
  readonly title: string;
  readonly text: string;
  /** Lines for bash or zsh. */
  readonly shell: string;
}

/**
 * @param base address of this installation, without a trailing slash
 * @param commandLine the command that starts the command line on this machine
 */
function tourSteps(base: string, commandLine: string): TourStep[] {
  return [
    {
      title: 'Set the URL and the key',
      text: `The first start created a project named demo. This command shows its id and its keys: ${commandLine} project keys demo`,
      shell: `BASE=${base}
ID=...                      # project id
KEY=...                     # anon key`,
    },
    {
      title: 'Sign up',
      text: 'The anon key identifies the project. The response contains a session. To sign in later, use /login instead of /signup.',
      shell: `curl -s $BASE/v1/auth/$ID/signup -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"email":"ada@example.com","password":"correct horse","name":"Ada"}'

TOKEN=...                   # access_token in the response
H=(-H "apikey: $KEY" -H "Authorization: Bearer $TOKEN")`,
    },
    {
      title: 'Write and read rows',
      text: 'The demo project has a table todos. Its policy lets users read and write their own rows only. With the anon key alone, the table appears empty.',
      shell: `curl -s $BASE/rest/v1/todos "\${H[@]}" -H 'Content-Type: application/json' -d '{"title":"Try Plinth"}'
curl -s "$BASE/rest/v1/todos?done=is.false&select=id,title&order=id.desc&limit=10" "\${H[@]}"
curl -s "$BASE/rest/v1/todos?title=eq.Try%20Plinth" "\${H[@]}" -X PATCH -H 'Content-Type: application/json' -d '{"done":true}'

curl -s $BASE/rest/v1/todos -H "apikey: $KEY" -H "Authorization: Bearer $KEY"     # []`,
    },
    {
      title: 'Upload and share a file',
      text: 'The bucket files belongs to the project, and every signed-in user can upload to it. The signed URL in the last response gives access to the file for an hour, without any header.',
      shell: `echo 'Hello from Plinth' > hello.txt
curl -s $BASE/p/demo/storage/buckets/files/upload "\${H[@]}" -F file=@hello.txt

FILE=...                    # data.id in the response
curl -s $BASE/p/demo/storage/files/$FILE/signed-url "\${H[@]}" -H 'Content-Type: application/json' -d '{"expiry":"1h"}'`,
    },
  ];
}

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
