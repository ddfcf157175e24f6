/** Sends one delivery. */
import { Inject, Injectable } from '@nestjs/common';
import { codeOf, isTlsFault } from '../common/errors/error-facts';
import { isJsonObject, parseJson } from '../common/text/json';
import { Clock } from '../common/time/clock';
import { WEBHOOK_CONFIG, type WebhookConfig } from '../config/app-config';
import { OutboundHttp } from '../infra/outbound/outbound-http';
import { webhookHeaders } from '../infra/outbound/standard-webhooks';
import type { Project } from '../projects/project';
import { type Attempt, MAX_ANSWER, type WaitingDelivery } from './delivery';
import { openSecrets, type WebhookSecrets } from './webhook';

/** OutboundHttp with WEBHOOK_ALLOWED_HOSTS. */
export const WEBHOOK_HTTP = Symbol('WEBHOOK_HTTP');

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,2000}$/;
/** Headers that concern the connection, or that receivers trust: only Plinth itself sets them. */
const OWN_HEADERS =
  /^(host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|expect|proxy-.*|content-length|content-type|webhook-.*)$/i;
const MAX_HEADERS = 20;

/** Codes of network errors that reveal nothing about the installation's network. */
const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
]);

@Injectable()
export class WebhookSender {
  /** Milliseconds within which a receiver must answer. */
  readonly timeoutMs: number;

  constructor(
    @Inject(WEBHOOK_HTTP) private readonly http: OutboundHttp,
    private readonly clock: Clock,
    @Inject(WEBHOOK_CONFIG) config: WebhookConfig,
  ) {
    this.timeoutMs = config.timeoutMs;
  }

  /** Null if the secret was sealed for another project or webhook. */
  secretsOf(project: Project, { webhookId, sealedSecrets }: WaitingDelivery): WebhookSecrets | null {
    return sealedSecrets && openSecrets(project, webhookId, sealedSecrets);
  }

  async send(
    { id, url, payload, headers }: Pick<WaitingDelivery, 'id' | 'url' | 'payload' | 'headers'>,
    secrets: WebhookSecrets,
  ): Promise<Attempt> {
    const began = performance.now();
    const outcome = (found: Partial<Attempt>): Attempt => ({
      status: null,
      error: null,
      answer: null,
      ...found,
      durationMs: Math.round(performance.now() - began),
    });
    const given = headersOf(headers);
    if (given === null || url === null || !URL.canParse(url))
      return outcome({ error: 'the address or a header is malformed' });
    try {
      const response = await this.http.send(
        url,
        {
          method: 'POST',
          headers: { ...given, ...this.headers(id, payload, secrets) },
          body: payload,
        },
        { timeoutMs: this.timeoutMs, maxBytes: MAX_ANSWER, cutsAnswer: true },
      );
      // PostgreSQL cannot store NUL.
      const answer = (await response.text()).replaceAll('\0', '\uFFFD').slice(0, MAX_ANSWER);
      const isRedirect = response.status >= 300 && response.status < 400;
      const error = isRedirect
        ? 'redirects are not followed'
        : response.ok
          ? null
          : `status ${response.status}`;
      return outcome({ status: response.status, error, answer });
    } catch (error) {
      return outcome({ error: reasonOf(error, this.timeoutMs) });
    }
  }

  private headers(id: string, body: string, secrets: WebhookSecrets): Record<string, string> {
    const { current, previous, previousUntil = 0 } = secrets;
    const isRotating = previous !== undefined && previousUntil > this.clock.now();
    const keys = isRotating ? [current, previous] : current;
    return webhookHeaders(keys, { id, timestamp: this.clock.nowSeconds(), body });
  }
}

/** Null if a header may not be sent. */
function headersOf(text: string | null): Record<string, string> | null {
  if (text === null) return {};
  const value = parseJson(text);
  const entries = isJsonObject(value) ? Object.entries(value) : null;
  if (!entries || entries.length > MAX_HEADERS) return null;
  const isFit = ([name, one]: [string, unknown]): boolean =>
    HEADER.test(name) && !OWN_HEADERS.test(name) && typeof one === 'string' && HEADER_VALUE.test(one);
  return entries.every(isFit) ? (Object.fromEntries(entries) as Record<string, string>) : null;
}

/** The messages of other errors may contain addresses of the network that the server is in. */
function reasonOf(error: unknown, timeoutMs: number): string {
  const code = codeOf(error) ?? '';
  const name = error instanceof Error ? error.name : '';
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ABORT_ERR')
    return `no answer within ${timeoutMs / 1000} s`;
  if (CONNECTION_ERRORS.has(code)) return `the connection failed: ${code}`;
  if (isTlsFault(error)) return `TLS failed: ${code}`;
  if (/^HPE_/.test(code)) return 'the answer is not HTTP';
  return 'the address is not public, or cannot be resolved';
}
