/** Client of the admin API of the server that runs with the same configuration. */
import type { IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { codeOf, messageOf } from '../common/errors/error-facts';
import { isJsonObject, type JsonObject, parseJson } from '../common/text/json';
import type { ClientConfig, Credential } from '../config/load-client-config';
import { CliError, EXIT } from './cli-error';
import { RequestOptions, requestText, TextResponse } from './request-text';
import { StreamOptions, streamRequest } from './stream-request';

export interface Answer<T> {
  readonly body: T;
}

export interface ProjectSummary {
  readonly [field: string]: unknown;
  readonly id: string;
  readonly slug: string;
}

export interface ProjectText {
  readonly text: string;
  readonly etag: string | null;
}

/** Projects per page of the list. */
const PAGE = 1_000;

export class AdminClient {
  private readonly bases: readonly string[];

  constructor(
    bases: readonly string[],
    private readonly secret: string,
    private readonly kind: Credential['kind'] = 'key',
  ) {
    this.bases = [...new Set(bases)];
  }

  /**
   * With the admin key, tries PORT on this machine before PUBLIC_URL, which may be reachable only from outside, through a
   * proxy. The token of a person goes to PUBLIC_URL alone: on another machine, PORT may be anything.
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
   * @param signal closes the connection
   * @throws CliError without a server, for a wrong key, or with the server's message
   */
  async send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer<T>> {
    const { status, text } = await this.reach(`/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.secret}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
    if (status >= 200 && status < 300) return { body: (text === '' ? undefined : JSON.parse(text)) as T };
    if (status === 401) {
      throw new CliError(UNKNOWN[this.kind], EXIT.failed, errorOf(text));
    }
    throw failure(status, text);
  }

  /**
   * A document of the project's own API.
   * @param etag of the document that is known already
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
    if (response.status === 304) return null;
    if (response.status === 401) throw new CliError('The project does not accept this role', EXIT.failed);
    if (response.status !== 200) throw failure(response.status, response.text);
    return { text: response.text, etag: response.headers.etag ?? null };
  }

  /** The project with that id or slug. @throws CliError when there is none */
  async findProject(name: string): Promise<ProjectSummary> {
    const { body } = await this.send<ProjectSummary[]>('GET', `/projects?slug=${encodeURIComponent(name)}`);
    if (body[0]) return body[0];
    return (await this.send<ProjectSummary>('GET', `/projects/${encodeURIComponent(name)}`)).body;
  }

  /** All projects, page by page. @param search part of the name or slug */
  async listProjects(search?: string): Promise<ProjectSummary[]> {
    const all: ProjectSummary[] = [];
    for (;;) {
      const query = new URLSearchParams({
        limit: String(PAGE),
        offset: String(all.length),
        ...(search ? { search } : {}),
      });
      const { body } = await this.send<ProjectSummary[]>('GET', `/projects?${query.toString()}`);
      all.push(...body);
      if (body.length < PAGE) return all;
    }
  }

  /** Sends a request whose body or response is a stream. @throws CliError as send() does */
  async stream(method: string, path: string, options: StreamOptions): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${this.secret}`, ...options.headers };
    for (const base of this.bases) {
      try {
        const response = await streamRequest(method, `${base}/admin/v1${path}`, { ...options, headers });
        const { statusCode = 500 } = response;
        if (statusCode < 300) return response;
        throw failure(statusCode, await textOf(response));
      } catch (error) {
        if (error instanceof CliError) throw error;
        if (!UNREACHABLE.includes(codeOf(error) ?? ''))
          throw new CliError(`${base} broke off: ${messageOf(error)}`, EXIT.failed);
      }
    }
    throw this.noServer();
  }

  private async reach(path: string, request: RequestOptions): Promise<TextResponse> {
    for (const base of this.bases) {
      try {
        return await requestText(base + path, request);
      } catch (error) {
        // After a refused connection nothing was sent; any other request must not be sent twice.
        if (!isRefused(error)) throw new CliError(`${base} broke off: ${reasonOf(error)}`, EXIT.failed);
      }
    }
    throw this.noServer();
  }

  private noServer(): CliError {
    const asked = this.bases.join(' and ');
    return new CliError(
      `No Plinth answers on ${asked}. Start it with npm start, or set PORT or PUBLIC_URL.`,
      EXIT.noServer,
    );
  }
}

function failure(status: number, text: string): CliError {
  const error = errorOf(text);
  const message = typeof error?.message === 'string' ? error.message : `the server answered ${status}`;
  return new CliError(message, status === 404 ? EXIT.notFound : EXIT.failed, error);
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

function isRefused(error: unknown): boolean {
  return UNREACHABLE.includes(codeOf(error) ?? '');
}

/** For a name with several addresses, the error is an AggregateError without a message. */
function reasonOf(error: unknown): string {
  return messageOf(error) || (codeOf(error) ?? '');
}
