/** The listener of S3_PORT: serves the S3 protocol at the root, for clients that do not support a path. */
import { Inject, Injectable, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { createServer, type RequestListener, type Server } from 'node:http';
import { RequestTurns } from '../../../admission/request-turns';
import { SlowReaders } from '../../../admission/slow-readers';
import { SERVER_CONFIG, ServerConfig } from '../../../config/app-config';
import { PortError } from '../../../http/port-error';
import { contextOf } from '../../../http/request-context';
import { toOriginForm } from '../../../http/request-head';

/** Milliseconds that running requests have to complete when the process ends. */
const END_LIMIT_MS = 5_000;
/** The same limits as for the main listener (http-adapter.ts). */
const LIMITS = {
  maxHeaderSize: 64 * 1024,
  keepAliveTimeout: 75_000,
  headersTimeout: 30_000,
  requestTimeout: 0,
};

@Injectable()
export class S3Listener implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
    private readonly host: HttpAdapterHost,
  ) {}

  /** @throws PortError if the port cannot be used */
  async onApplicationBootstrap(): Promise<void> {
    const { s3, maxClientConnections, minBodyRate, bodyRateWindowMs } = this.config;
    if (s3 === null) return;
    const handle = this.host.httpAdapter.getInstance<RequestListener>();
    const turns = new RequestTurns();
    const server = createServer(
      { ...LIMITS, joinDuplicateHeaders: true, noDelay: true },
      (request, response) => {
        request.url = toOriginForm(request.url ?? '');
        contextOf(request).isOfS3 = true;
        turns.take(request, response, () => handle(request, response));
      },
    );
    server.maxHeadersCount = 0;
    server.maxConnections = maxClientConnections;
    new SlowReaders(server, minBodyRate, bodyRateWindowMs);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(new PortError('S3_PORT', s3.host, s3.port, error)));
      server.listen(s3.port, s3.host, resolve);
    });
    this.server = server;
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (!server) return;
    const limit = setTimeout(() => server.closeAllConnections(), END_LIMIT_MS);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
    clearTimeout(limit);
  }
}
