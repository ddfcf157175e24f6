/**
 * One HTTP request and its whole response. Unlike fetch(), which gives up after five minutes without a response, it waits as
 * long as the connection lives: a migration may take an hour.
 */
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';

export interface RequestOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Closes the connection; the request rejects with an AbortError. */
  readonly signal?: AbortSignal | undefined;
}

export interface TextResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Milliseconds after which the system checks that an idle connection still lives. */
const KEEP_ALIVE_MS = 30_000;

/** Redirects are not followed: the request carries a key. Rejects with the system's error. */
export async function requestText(
  url: string,
  { method, headers, body, signal }: RequestOptions,
): Promise<TextResponse> {
  const { request } = url.startsWith('https:') ? https : http;
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false, ...(signal ? { signal } : {}) }, resolve);
    sent.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
    sent.on('error', reject);
    sent.end(body);
  });
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}
