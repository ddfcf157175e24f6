/** GET that retries while a server is overloaded or unreachable. */
import { setTimeout as sleep } from 'node:timers/promises';

const RETRIED = [408, 429, 500, 502, 503, 504];
const MAX_RETRIES = 3;
const FIRST_DELAY_MS = 100;

/** An error response of the server, with `code` as the SDKs have it. */
class HttpStatusError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'HttpStatusError';
  }
}

/**
 * @param timeoutMs milliseconds to wait for the head of the response
 * @returns a response with a 2xx status, its body unread
 * @throws HttpStatusError, or fetch's error
 */
export async function fetchRetrying(
  url: string,
  headers: Record<string, string>,
  timeoutMs: number,
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await get(url, headers, timeoutMs);
    } catch (error) {
      const isFinal = error instanceof HttpStatusError && !RETRIED.includes(error.code);
      if (isFinal || retries === MAX_RETRIES) throw error;
      await sleep(FIRST_DELAY_MS * 2 ** retries);
    }
  }
}

async function get(url: string, headers: Record<string, string>, timeoutMs: number): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`no response within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    const response = await fetch(url, { headers, signal: controller.signal });
    if (response.ok) return response;
    throw new HttpStatusError(response.status, await response.text());
  } finally {
    clearTimeout(timer);
  }
}
