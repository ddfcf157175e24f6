/** The second listener (METRICS_PORT): metrics and probes for the install's own monitoring, without credentials. */
import { Inject, Injectable, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { RequestTurns } from '../../admission/request-turns';
import { contextOf } from '../../http/request-context';
import { PortError } from '../../http/port-error';

const PATHS = new Set(['/metrics', '/health/live', '/health/ready']);
const NOT_FOUND = JSON.stringify({
  error: { message: 'There is nothing at this address', code: 'not_found', status: 404 },
});

@Injectable()
export class MetricsListener implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
    private readonly host: HttpAdapterHost,
  ) {}

  /** @throws PortError */
  async onApplicationBootstrap(): Promise<void> {
    const { metrics } = this.config;
    if (metrics === null) return;
    const handle = this.host.httpAdapter.getInstance<RequestListener>();
    const turns = new RequestTurns();
    const server = createServer((request, response) =>
      turns.take(request, response, () => this.serve(request, response, handle)),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) =>
        reject(new PortError('METRICS_PORT', metrics.host, metrics.port, error)),
      );
      server.listen(metrics.port, metrics.host, resolve);
    });
    this.server = server;
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (!server) return;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  /**
   * Serves the application's own routes for metrics and probes, so that both listeners give the same answers, and no other route.
   */
  private serve(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const [path = ''] = (request.url ?? '').split('?');
    if (!PATHS.has(path)) {
      response.writeHead(404, { 'Content-Type': 'application/json; charset=utf-8' }).end(NOT_FOUND);
      return;
    }
    contextOf(request).isOfMetrics = true;
    handle(request, response);
  }
}
