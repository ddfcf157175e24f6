/** `/rest/v1/<table>` and `/rest/v1/rpc/<function>`, and the same under `/p/<project_slug>`. */
import { All, Controller, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Reservation } from '../../admission/memory-budget';
import { AdmissionGuard } from '../../access/admission.guard';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { callerOf } from '../../access/current-caller.decorator';
import { contextOf } from '../../http/request-context';
import { type BodyKind, BodyReader } from '../../http/bodies/body-reader';
import { SERVER_CONFIG, type ServerConfig } from '../../config/app-config';
import { MAX_FORM_BYTES } from '../body/form';
import { StatementBudget } from '../body/statement-budget';
import { DiskReserve } from '../../limits/disk-reserve.service';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import type { MediaType, TargetKind } from '../grammar/rest-request';
import { parseRestRequest } from '../grammar/parse-rest-request';
import { RestService } from '../rest.service';
import { ResponseWriter } from '../respond/response-writer';
import { TableStreams } from './table-streams';
import { ResultBudget } from '../respond/result-budget';

/**
 * Bytes of memory for each byte of a body: the body as received, as text or as the names in its rows, and in
 * the message to PostgreSQL, where each byte is two hexadecimal digits. Each field of a form is a separate
 * text. JSON that CSV becomes is counted as it is made.
 */
const MULTIPLE = 4;
const MULTIPLES: Readonly<Partial<Record<MediaType['kind'], number>>> = { 'octet-stream': 6, form: 16 };

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

@Controller(['rest/v1', 'p/:project_slug/rest/v1'])
@UseGuards(ApiKeyGuard, AdmissionGuard, BearerGuard)
export class RestController {
  constructor(
    private readonly rest: RestService,
    private readonly bodies: BodyReader,
    private readonly statements: StatementBudget,
    private readonly results: ResultBudget,
    private readonly streams: TableStreams,
    private readonly quotas: ProjectQuotas,
    private readonly disk: DiskReserve,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
  ) {}

  // Nest creates a promise for each injected parameter, so only the response is injected; it has the request.
  @All('rpc/:routine')
  callRoutine(@Res() response: Response): Promise<void> {
    return this.handle('rpc', response.req, response);
  }

  @All(':table')
  accessTable(@Res() response: Response): Promise<void> {
    return this.handle('table', response.req, response);
  }

  /** Handles all other paths, after the credentials have been checked. @throws GrammarError PL125 */
  @All('*path')
  refuse(@Req() { method, headers }: Request): void {
    parseRestRequest({ method, kind: 'table', target: '', queryString: '', headers });
  }

  private async handle(kind: TargetKind, request: Request, response: Response): Promise<void> {
    const caller = callerOf(request);
    const { project } = caller;
    const { method, headers, originalUrl } = request;
    const warning = this.quotas.warningOf(project);
    if (warning !== null) response.setHeader('X-Quota-Warning', warning);
    // A function may read or delete, so calls are not refused.
    if (kind === 'table' && METHODS_WITH_BODY.has(method)) {
      this.quotas.assertMayGrow(project);
      await this.disk.assertMayWrite(Number(headers['content-length'] ?? Infinity));
    }
    const { path, target, queryString } = split(originalUrl);
    const raw = { method, kind, target, queryString, headers };
    const stream = this.streams.handlerOf(raw);
    if (stream) return stream(caller, raw, response);
    const parsed = parseRestRequest(raw);
    if (parsed.shape.method === 'OPTIONS') {
      const methods = await this.rest.allowedMethods(caller, parsed.shape);
      response.writeHead(200, { Allow: methods.join(','), 'Content-Length': 0 }).end();
      return;
    }
    const held = METHODS_WITH_BODY.has(method)
      ? await this.bodies.hold(request, this.kindOf(parsed.shape.contentType))
      : null;
    let memory: Reservation | undefined;
    try {
      if (held)
        memory = await this.statements.reserve(
          { account: project.id, address: request.ip ?? '' },
          held.bytes,
        );
      const facts = { method, path: pathInApi(path), headers };
      const sender = { caller, facts, context: contextOf(request) };
      await this.rest.answer(sender, parsed, held, new ResponseWriter(response, this.results));
    } finally {
      memory?.release();
      held?.release();
    }
  }

  private kindOf({ kind }: MediaType): BodyKind {
    const { maxBodyBytes } = this.config;
    const limit = kind === 'form' ? Math.min(maxBodyBytes, MAX_FORM_BYTES) : maxBodyBytes;
    return { limit, multiple: MULTIPLES[kind] ?? MULTIPLE };
  }
}

/** The path without its prefix, as PostgREST gives it to functions: `/people`, `/rpc/add`. */
function pathInApi(path: string): string {
  return path.slice(path.indexOf(PREFIX) + PREFIX.length);
}

const PREFIX = '/rest/v1';

/** The parts of a URL, not decoded. Express would decode them, and refuse bad encoding with another message. */
function split(url: string): { path: string; target: string; queryString: string } {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  return {
    path,
    target: trimmed.slice(trimmed.lastIndexOf('/') + 1),
    queryString: query < 0 ? '' : url.slice(query + 1),
  };
}
