/** `/rest/v1/<table>` and `/rest/v1/rpc/<function>`, and the same under `/p/<project_slug>`. */
import { All, Controller, Inject, Req, Res, UseGuards } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DatabaseError } from 'pg';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import type { Caller } from '../../access/caller';
import { callerOf } from '../../access/current-caller.decorator';
import type { HeldBody } from '../../http/bodies/body-budget';
import { type BodyKind, BodyReader } from '../../http/bodies/body-reader';
import { SERVER_CONFIG, type ServerConfig } from '../../config/app-config';
import { LARGEST_FORM } from '../body/form';
import type { RequestFacts } from '../execute/request-settings';
import { SchemaChanged } from '../execute/printed-rows';
import type { MediaType, RestRequest, TargetKind } from '../grammar/rest-request';
import { type ParsedRequest, QueryParser } from '../query-parser.service';
import { RestResponder } from './rest-responder.service';

/** A schema rarely changes again before the request that met the change is through, but migrations are made of many. */
const MOST_REPEATS = 3;

/**
 * Bytes of memory for each byte of a body: as it came, as text or as an outline of its rows, and on its way to PostgreSQL. Bytes
 * go there in hexadecimal digits; fields of a form are texts of their own. JSON that CSV becomes is counted as it is made.
 */
const MULTIPLE = 4;
const MULTIPLES: Readonly<Partial<Record<MediaType['kind'], number>>> = { 'octet-stream': 6, form: 16 };

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

@Controller(['rest/v1', 'p/:project_slug/rest/v1'])
@UseGuards(ApiKeyGuard, BearerGuard)
export class RestController {
  constructor(
    private readonly parser: QueryParser,
    private readonly responder: RestResponder,
    private readonly bodies: BodyReader,
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
  ) {}

  // Nest makes a promise for each parameter: the response alone will do, which knows its request.
  @All('rpc/:routine')
  callRoutine(@Res() response: Response): Promise<void> {
    return this.handle('rpc', response.req, response);
  }

  @All(':table')
  accessTable(@Res() response: Response): Promise<void> {
    return this.handle('table', response.req, response);
  }

  /** Whatever else is below, once the credentials are looked at. @throws AppError PL125 */
  @All('*path')
  refuse(@Req() { method, headers }: Request): void {
    this.parser.parseHead({ method, kind: 'table', target: '', queryString: '', headers });
  }

  private async handle(kind: TargetKind, request: Request, response: Response): Promise<void> {
    const caller = callerOf(request);
    const { path, target, queryString } = split(request.originalUrl);
    const head = this.parser.parseHead({
      method: request.method,
      kind,
      target,
      queryString,
      headers: request.headers,
    });
    if (head.method === 'OPTIONS') {
      await this.answerOptions(caller, head, response);
      return;
    }
    const facts = { method: request.method, path: pathInApi(path), headers: request.headers };
    if (!METHODS_WITH_BODY.has(head.method)) return this.run(caller, head, null, facts, response);
    return this.bodies.use(request, this.kindOf(head), (body) =>
      this.run(caller, head, body, facts, response),
    );
  }

  private async run(
    caller: Caller,
    head: RestRequest,
    body: HeldBody | null,
    facts: RequestFacts,
    response: Response,
  ): Promise<void> {
    let parsed = await this.parser.parse(caller, head, body);
    // Each further statement takes the body along once more.
    const further = parsed.statements.main.length - 1;
    if (body !== null && further > 0) body.memory.grow(further * body.bytes.length);
    for (let repeats = 0; ; repeats += 1) {
      try {
        await this.responder.respond(caller, parsed, facts, response);
        return;
      } catch (error) {
        const again = response.headersSent ? null : await this.again(error, caller, parsed);
        if (!again) throw error;
        if (repeats === MOST_REPEATS) throw isStaleSchema(error) ? new SchemaChanged() : error;
        parsed = again;
      }
    }
  }

  private kindOf({ contentType: { kind } }: RestRequest): BodyKind {
    const { maxBodyBytes } = this.config;
    const limit = kind === 'form' ? Math.min(maxBodyBytes, LARGEST_FORM) : maxBodyBytes;
    return { limit, multiple: MULTIPLES[kind] ?? MULTIPLE };
  }

  /** What may simply run again, for nothing was committed: a request that met a schema newer than the catalog, and a deadlocked read. */
  private async again(error: unknown, caller: Caller, parsed: ParsedRequest): Promise<ParsedRequest | null> {
    if (isStaleSchema(error)) return this.parser.parseAgain(caller, parsed);
    const isDeadlocked = error instanceof DatabaseError && error.code === DEADLOCK_SQLSTATE;
    return isDeadlocked && parsed.plan.kind === 'read' ? parsed : null;
  }

  private async answerOptions(caller: Caller, head: RestRequest, response: Response): Promise<void> {
    const methods = await this.parser.allowed(caller, head);
    response.writeHead(200, { Allow: methods.join(','), 'Content-Length': 0 }).end();
  }
}

/** As PostgREST tells it, which stands behind a prefix too: `/people`, `/rpc/add`. */
function pathInApi(path: string): string {
  return path.slice(path.indexOf(PREFIX) + PREFIX.length);
}

const PREFIX = '/rest/v1';

/**
 * What the catalog knew is not there, undefined table, column, function, object; or a row has more columns than it knew,
 * which is a syntax error (named-columns.ts); or something went away while the statement waited for a lock, which PostgreSQL
 * calls an internal error.
 */
const STALE_SCHEMA = new Set(['42P01', '42703', '42883', '42704', '3F000', '42601', 'XX000']);

/** Reads lock nothing but against DDL, which locks tables in an order of its own. */
const DEADLOCK_SQLSTATE = '40P01';

function isStaleSchema(error: unknown): boolean {
  if (error instanceof SchemaChanged) return true;
  return error instanceof DatabaseError && STALE_SCHEMA.has(error.code ?? '');
}

/** The parts of a URL, nothing decoded: Express's own are, and what it can't decode it refuses in words of its own. */
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
