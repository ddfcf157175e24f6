/** A small HTTP client for tests: base URL, default headers, JSON in and out. What the OpenAPI document does not say fails the test. */
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

  /** The same client of another replica. */
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
    const response = await fetch(this.baseUrl + path, {
      method,
      redirect: 'manual',
      headers: sent,
      body: raw ? (body as never) : JSON.stringify(body),
    });
    const text = await textOf(response);
    const answer = { status: response.status, headers: response.headers, text, body: parsed(text) };
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

/** A stream of events has no end, so it is left after its head. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  await response.body?.cancel();
  return '';
}
