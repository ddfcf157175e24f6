/** Express behind an HTTP server with Plinth's limits, which Nest's adapter cannot set. */
import { Logger } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express } from 'express';
import { IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { joiningRequests } from '../admission/joined-chunks';
import { FairStarts } from '../admission/fair-starts';
import { toOriginForm } from '../http/request-head';
import { contextOf } from '../http/request-context';
import { startMeasured } from '../http/request-times';
import { RequestTurns } from '../admission/request-turns';
import type { ServerConfig } from '../config/app-config';
import { DrainableServer } from './drainable-server';
import { SlowReaders } from '../admission/slow-readers';
import { randomUUID } from 'node:crypto';

const REQUEST_ID = 'X-Request-Id';
/** Accepts only ids of a proxy's usual form: other text comes from the client and is not logged. */
const GIVEN = /^[\w.:-]{1,64}$/;
/** Keys and tokens must not get into the log as request ids. */
const TOKEN = /eyJ[\w-]{10,}/;

/** Uses the proxy's id or a new id, and sends it to the client. */
function nameRequest(request: IncomingMessage, response: ServerResponse): void {
  const given = request.headers['x-request-id'];
  const isUsable = typeof given === 'string' && GIVEN.test(given) && !TOKEN.test(given);
  const id = isUsable ? given : randomUUID();
  contextOf(request).id = id;
  response.setHeader(REQUEST_ID, id);
}

/** Bytes of a request's head. Filters with a few hundred UUIDs exceed Node's default of 16 KiB. */
const MAX_HEADER_BYTES = 64 * 1024;
/**
 * Keep-alive in milliseconds: longer than that of load balancers, so that the server never closes a connection
 * first.
 */
const KEEP_ALIVE_MS = 75_000;
/** Milliseconds for the head of a request, or for silence on a new connection. Node checks it every few seconds. */
const HEADERS_TIMEOUT_MS = 30_000;
const NOSNIFF = { name: 'X-Content-Type-Options', value: 'nosniff' };
const HEADERS_CHECK_MS = 5_000;
/** Bytes that a body or response may be ahead of its reader. By default Node.js 22 and later allow 64 KiB. */
const HIGH_WATER_MARK = 16 * 1024;
/** Milliseconds between two log lines about refused connections. */
const DROP_LOG_MS = 60_000;

export type ConnectionLimits = Pick<
  ServerConfig,
  'maxClientConnections' | 'minBodyRate' | 'bodyRateWindowMs' | 'requestLog' | 'traceEndpoint'
>;

export class HttpAdapter extends ExpressAdapter {
  private readonly serverLog = new Logger('Server');

  constructor(private readonly limits: ConnectionLimits) {
    const instance = express();
    // Paths are case-sensitive. Express reads this when it creates the router, so it is set first.
    instance.enable('case sensitive routing');
    super(instance);
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express & RequestListener>();
    const turns = new RequestTurns();
    const starts = new FairStarts();
    const isNamed = this.limits.requestLog || this.limits.traceEndpoint !== null;
    const handle: RequestListener = (request, response) => {
      if (isNamed) nameRequest(request, response);
      request.url = toOriginForm(request.url ?? '');
      contextOf(request).starts = starts;
      const start = (): void => startMeasured(request, () => void app(request, response));
      turns.take(request, response, () => starts.take(request, start));
    };
    const server: DrainableServer = new DrainableServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        connectionsCheckingInterval: HEADERS_CHECK_MS,
        // An upload may take hours; body-pace.ts limits how slowly a body may arrive.
        requestTimeout: 0,
        // With two Authorization lines, Node uses the first, other servers the last. Joined, they are not a valid
        // credential.
        joinDuplicateHeaders: true,
        noDelay: true,
        highWaterMark: HIGH_WATER_MARK,
        ...expressClasses(app, () => !server.listening),
      },
      handle,
    );
    // Sets no limit: Node 22 and later answer a longer head with a 431 without a body. headFault() counts the lines.
    server.maxHeadersCount = 0;
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      continueWhenRead(request, response);
      handle(request, response);
    });
    // RFC 9110, 10.1.1: unknown expectations may be ignored. Node's own 417 has no body, and no headers of the area.
    server.on('checkExpectation', handle);
    server.maxConnections = this.limits.maxClientConnections;
    this.logDrops(server);
    new SlowReaders(server, this.limits.minBodyRate, this.limits.bodyRateWindowMs);
    this.httpServer = server satisfies Server;
  }

  private logDrops(server: Server): void {
    let lastLine = -Infinity;
    server.on('drop', () => {
      if (performance.now() - lastLine < DROP_LOG_MS) return;
      lastLine = performance.now();
      this.serverLog.warn(
        `${this.limits.maxClientConnections} connections are open (MAX_CLIENT_CONNECTIONS): further ones are closed`,
      );
    });
  }
}

/**
 * Express changes the prototype of each request and response by Object.setPrototypeOf(), which makes V8 drop
 * their hidden classes: that took half the time of a small request. Here they are created with Express's
 * prototype.
 * @param isEnding true when responses must ask their clients to close the connection
 */
function expressClasses(
  app: Express,
  isEnding: () => boolean,
): {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
} {
  const ExpressRequest = joiningRequests();
  class ExpressResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    // Called for every response, also when the head is written implicitly.
    override writeHead(...head: unknown[]): this {
      if (isEnding()) this.shouldKeepAlive = false;
      forbidSniffing(this, head);
      return super.writeHead(...(head as Parameters<ServerResponse['writeHead']>));
    }
  }
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  app.request = ExpressRequest.prototype as Express['request'];
  app.response = ExpressResponse.prototype as Express['response'];
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/**
 * Adds `X-Content-Type-Options: nosniff`, so that no browser renders data as a page (WHATWG Fetch). Done here,
 * because every response passes, and in the caller's own object, because setHeader() or a copy costs
 * microseconds.
 * @param head arguments of writeHead()
 */
function forbidSniffing(response: ServerResponse, head: unknown[]): void {
  const headers = head.at(-1);
  if (typeof headers !== 'object' || headers === null) response.setHeader(NOSNIFF.name, NOSNIFF.value);
  else if (Array.isArray(headers)) headers.push(NOSNIFF.name, NOSNIFF.value);
  else (headers as Record<string, unknown>)[NOSNIFF.name] = NOSNIFF.value;
}

/**
 * RFC 9110, 10.1.1: a client that sends `Expect: 100-continue` waits with its body. 100 is sent when the body is
 * first read, so a request that the guards refuse never sends it.
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  // Every reader calls read(), but iterating does not emit `resume`.
  const read = (size?: number): unknown => {
    Reflect.deleteProperty(request, 'read');
    if (!response.headersSent) response.writeContinue();
    return request.read(size);
  };
  Object.assign(request, { read });
}
