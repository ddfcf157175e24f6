/** Client of the admin API of the server that runs with the same configuration, typed by Plinth's OpenAPI document. */
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from '../../console/src/generated/openapi.js' with {
  'resolution-mode': 'import',
};
import { codeOf, messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import type { ClientConfig, Credential } from '../config/load-client-config';
import { CliError, EXIT } from './cli-error';
import { type RequestOptions, sendRequest } from './send-request';

export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type ProjectSummary = Schema<'ProjectResponse'>;

export interface ProjectText {
  readonly text: string;
  readonly etag: string | null;
}

/** Projects per page of the list. */
const PAGE_SIZE = 1_000;
/** Stands for the server in the typed client, which needs an address. */
const ANY_BASE = 'http://plinth.invalid';
/** Statuses of a Response that must not have a body. */
const WITHOUT_BODY = [204, 205, 304];

export class AdminClient {
  /** The operations. Failures are thrown as CliError, so a result has data: dataOf(). */
  readonly api: Client<paths>;
  private readonly bases: readonly string[];
  /** The address that answered the last request. */
  private reached = '';

  constructor(
    bases: readonly string[],
    private readonly secret: string,
    private readonly kind: Credential['kind'] = 'key',
  ) {
    this.bases = [...new Set(bases)];
    this.api = createClient<paths>({ baseUrl: ANY_BASE, fetch: (request) => this.fetch(request) });
  }

  /**
   * With the admin key, tries PORT on this machine before PUBLIC_URL, which may be reachable only from outside, through a
   * proxy. The token of a staff member goes only to PUBLIC_URL: on another machine, PORT may be another program.
   */
  static for({ host: boundTo, port, publicUrl, credential }: ClientConfig): AdminClient {
    if (credential.kind === 'token') return new AdminClient([publicUrl], credential.secret, 'token');
    const host = ['0.0.0.0', '::', ''].includes(boundTo) ? '127.0.0.1' : boundTo;
    const local = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return new AdminClient([local, publicUrl], credential.secret);
  }

  /** PUBLIC_URL, which is tried last. */
  get publicUrl(): string {
    return this.bases.at(-1) ?? '';
  }

  /**
   * A document of the project's own API.
   * @param etag the entity tag of the document that is already known
   * @returns null if it has not changed
   * @throws CliError without a server, or with the server's message
   */
  async findDocument(
    path: string,
    { apikey, bearer, etag }: { apikey: string; bearer: string; etag: string | null },
  ): Promise<ProjectText | null> {
    const headers = {
      apikey,
      authorization: `Bearer ${bearer}`,
      ...(etag === null ? {} : { 'if-none-match': etag }),
    };
    const response = await this.reach(path, { method: 'GET', headers });
    const text = await this.whole(response);
    if (response.statusCode === 304) return null;
    if (response.statusCode === 401) throw new CliError('The project does not accept this role', EXIT.failed);
    if (response.statusCode !== 200) throw this.failure(response.statusCode ?? 0, text);
    return { text, etag: response.headers.etag ?? null };
  }

  /** The project with that id or slug. @throws CliError when there is none */
  async findProject(name: string): Promise<ProjectSummary> {
    const [found] = await dataOf(this.api.GET('/admin/v1/projects', { params: { query: { slug: name } } }));
    if (found) return found;
    return dataOf(this.api.GET('/admin/v1/projects/{id}', { params: { path: { id: name } } }));
  }

  /** Like findProject(); null when there is none. */
  findProjectIfAny(name: string): Promise<ProjectSummary | null> {
    return this.findProject(name).catch((error: unknown) => {
      if (error instanceof CliError && error.exitCode === EXIT.notFound) return null;
      throw error;
    });
  }

  /** All projects, page by page. @param search part of the name or slug */
  async listProjects(search?: string): Promise<ProjectSummary[]> {
    const all: ProjectSummary[] = [];
    for (;;) {
      const query = { limit: PAGE_SIZE, offset: all.length, search: search || undefined };
      const page = await dataOf(this.api.GET('/admin/v1/projects', { params: { query } }));
      all.push(...page);
      if (page.length < PAGE_SIZE) return all;
    }
  }

  /** Sends a request whose body or response is a stream. @throws CliError without a server, or with the server's message */
  async stream(
    method: string,
    path: string,
    options: Omit<RequestOptions, 'method'>,
  ): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${this.secret}`, ...options.headers };
    const response = await this.reach(`/admin/v1${path}`, { ...options, method, headers });
    if ((response.statusCode ?? 500) < 300) return response;
    throw this.failure(response.statusCode ?? 500, await this.whole(response));
  }

  /** @throws CliError without a server, for a wrong key, or with the server's message */
  private async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const response = await this.reach(pathname + search, {
      method: request.method,
      headers: { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' },
      body: await request.text(),
      signal: request.signal,
    });
    const [status, text] = [response.statusCode ?? 0, await this.whole(response)];
    if (status < 200 || status >= 300) throw this.failure(status, text);
    if (text !== '' && parseJson(text) === undefined) throw this.notPlinth(status);
    return new Response(WITHOUT_BODY.includes(status) ? null : text, { status });
  }

  /**
   * Sends a request, such as one to the project's own API with its keys. Tries the addresses in order. After a refused connection
   * nothing was sent; any other request must not be repeated.
   * @throws CliError without a server
   */
  async reach(path: string, options: RequestOptions): Promise<IncomingMessage> {
    for (const base of this.bases) {
      try {
        const response = await sendRequest(base + path, options);
        this.reached = base;
        return response;
      } catch (error) {
        if (!UNREACHABLE.includes(codeOf(error) ?? '')) throw brokenOff(base, error);
      }
    }
    const tried = this.bases.join(' and ');
    throw new CliError(
      `No Plinth answers on ${tried}. Start it with npm start; if it has its own DATA_DIR, PORT or PUBLIC_URL, set the same here.`,
      EXIT.noServer,
    );
  }

  private failure(status: number, text: string): CliError {
    const error = errorOf(text);
    const message =
      typeof error?.code === 'string' && typeof error.message === 'string' ? error.message : null;
    if (message !== null && status === 401) return new CliError(UNKNOWN[this.kind], EXIT.failed, error);
    if (message !== null) return new CliError(message, status === 404 ? EXIT.notFound : EXIT.failed, error);
    if ([401, 403, 404, 405].includes(status)) return this.notPlinth(status);
    return new CliError(`the server answered ${status}`, EXIT.failed);
  }

  private notPlinth(status: number): CliError {
    return new CliError(
      `The server at ${this.reached} is not Plinth (it answered ${status}): set PORT or PUBLIC_URL as for the server.`,
      EXIT.noServer,
    );
  }

  private whole(response: IncomingMessage): Promise<string> {
    return textOf(response).catch((error: unknown) => {
      throw brokenOff(this.publicUrl, error);
    });
  }
}

/** The body of a successful response. */
export async function dataOf<T>(result: Promise<{ data?: T }>): Promise<T> {
  return (await result).data as T;
}

/** For a name with several addresses, Node's error is an AggregateError without a message. */
function brokenOff(base: string, error: unknown): CliError {
  return new CliError(
    `${base} closed the connection: ${messageOf(error) || (codeOf(error) ?? '')}`,
    EXIT.failed,
  );
}

export function errorOf(text: string): JsonObject | undefined {
  const answer = parseJson(text);
  return isJsonObject(answer) && isJsonObject(answer.error) ? answer.error : undefined;
}

const UNKNOWN = {
  key: 'The server does not know this PLATFORM_ADMIN_KEY: is DATA_DIR that of the server?',
  token: 'The token has expired, or its account was disabled: sign in with `plinth login`',
} as const;

const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'];
