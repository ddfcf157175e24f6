/**
 * A small HTTP client for tests: base URL, default headers, JSON in and out. An exchange that differs from the OpenAPI
 * document fails the test.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { assertDocumented } from './documented/exchange-check';
import type { DocumentedBody } from './documented-body';

// oxlint-disable-next-line typescript/no-explicit-any -- answers of the product under test
export interface HttpAnswer<Body = any> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined if it is empty or not JSON. */
  readonly body: Body;
}

export interface HttpOptions {
  /** Sent as JSON unless it is a string, a buffer or a form. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export class HttpClient {
  constructor(
    readonly baseUrl: string,
    readonly headers: Readonly<Record<string, string>> = {},
    private readonly isChecked = true,
  ) {}

  /** The same client for exchanges that the OpenAPI document leaves out on purpose. */
  unchecked(): HttpClient {
    return new HttpClient(this.baseUrl, this.headers, false);
  }

  /** The same client with further headers. */
  with(headers: Record<string, string>): HttpClient {
    return new HttpClient(this.baseUrl, { ...this.headers, ...headers }, this.isChecked);
  }

  /** The same client, which sends to another replica. */
  at(baseUrl: string): HttpClient {
    return new HttpClient(baseUrl, this.headers, this.isChecked);
  }

  get<Path extends string>(
    path: Path,
    options?: HttpOptions,
  ): Promise<HttpAnswer<DocumentedBody<'get', Path>>> {
    return this.send('GET', path, options);
  }

  post<Path extends string>(
    path: Path,
    body?: unknown,
    options?: HttpOptions,
  ): Promise<HttpAnswer<DocumentedBody<'post', Path>>> {
    return this.send('POST', path, { ...options, body });
  }

  patch<Path extends string>(
    path: Path,
    body?: unknown,
    options?: HttpOptions,
  ): Promise<HttpAnswer<DocumentedBody<'patch', Path>>> {
    return this.send('PATCH', path, { ...options, body });
  }

  put<Path extends string>(
    path: Path,
    body?: unknown,
    options?: HttpOptions,
  ): Promise<HttpAnswer<DocumentedBody<'put', Path>>> {
    return this.send('PUT', path, { ...options, body });
  }

  delete<Path extends string>(
    path: Path,
    options?: HttpOptions,
  ): Promise<HttpAnswer<DocumentedBody<'delete', Path>>> {
    return this.send('DELETE', path, options);
  }

  /** Sends a request; does not check the status of the response. */
  async send(method: string, path: string, { body, headers = {} }: HttpOptions = {}): Promise<HttpAnswer> {
    const raw =
      body === undefined || typeof body === 'string' || body instanceof FormData || Buffer.isBuffer(body);
    const sent: Record<string, string> = {
      ...this.headers,
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const response = await responseTo(method, this.baseUrl + path, sent, raw ? body : JSON.stringify(body));
    const text = await textOf(response);
    const answer = {
      status: response.statusCode ?? 0,
      headers: headersOf(response),
      text,
      body: parsed(text),
    };
    if (this.isChecked) assertDocumented({ method, path, contentType: sent['content-type'], body, answer });
    return answer;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Closes idle connections before the server does after five seconds. */
const agent = new Agent({ keepAlive: true, timeout: 3_000 });
/** The same default headers and errors as fetch() has; fetch() takes three times the processor time. */
const DEFAULTS = { accept: '*/*', 'user-agent': 'node' };

async function responseTo(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: string | Buffer | FormData | undefined,
): Promise<IncomingMessage> {
  const bytes = body instanceof FormData ? await formBytes(body) : Buffer.from(body ?? '');
  const hasLength = body !== undefined || !['GET', 'HEAD'].includes(method);
  return new Promise((resolve, reject) => {
    const all = {
      ...DEFAULTS,
      ...(body instanceof FormData ? { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } : {}),
      ...(hasLength ? { 'content-length': String(bytes.length) } : {}),
      ...headers,
    };
    request(new URL(url), { method, headers: all, agent }, resolve)
      .on('socket', ignoreLateErrors)
      .on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
      .end(bytes);
  });
}

const ignore = (): void => undefined;
/** Ignores errors of a socket that the server closed after an early response. */
function ignoreLateErrors(socket: Socket): void {
  if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
}

const BOUNDARY = `plinth-test-${randomUUID()}`;

async function formBytes(form: FormData): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const [name, value] of form) {
    const isText = typeof value === 'string';
    const file = isText ? '' : `; filename="${quoted(value.name)}"`;
    const type = isText ? '' : `\r\nContent-Type: ${value.type || 'application/octet-stream'}`;
    const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${type}\r\n\r\n`;
    const content = isText ? Buffer.from(value) : Buffer.from(await value.arrayBuffer());
    parts.push(Buffer.from(head), content, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** Quotes names of fields and files as browsers do. */
const quoted = (name: string): string =>
  name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}

const DECODERS: Record<string, (bytes: Buffer) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The body of a response. A stream of events has no end, so it is closed after its head. */
async function textOf(response: IncomingMessage): Promise<string> {
  if (response.headers['content-type'] === 'text/event-stream') {
    response.destroy();
    return '';
  }
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (cause) {
    throw new TypeError('terminated', { cause });
  }
  const bytes = Buffer.concat(chunks);
  const decode = bytes.length > 0 ? DECODERS[response.headers['content-encoding'] ?? ''] : undefined;
  return new TextDecoder().decode(decode ? await decode(bytes) : bytes);
}
