/** Traces requests if a collector is configured. Only then is the SDK loaded, by require(). */
/* oxlint-disable typescript/no-require-imports */
import {
  BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  OnApplicationBootstrap,
} from '@nestjs/common';
import { messageOf } from '../../common/errors/error-facts';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { RequestObserver } from '../request-observer.service';
import type * as Exporter from './trace-exporter';

@Injectable()
export class Tracing implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(Tracing.name);
  private stop: () => Promise<void> = async () => undefined;

  constructor(
    @Inject(SERVER_CONFIG) private readonly config: ServerConfig,
    private readonly observer: RequestObserver,
  ) {}

  onApplicationBootstrap(): void {
    const { traceEndpoint } = this.config;
    if (traceEndpoint === null) return;
    const { TraceExporter } = require('./trace-exporter') as typeof Exporter;
    const exporter = new TraceExporter(traceEndpoint);
    const remove = this.observer.add((ended, request) => exporter.export(ended, request));
    this.stop = async () => {
      remove();
      await exporter.stop();
    };
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop().catch((error: unknown) =>
      this.logger.warn(`the last traces were not sent: ${messageOf(error)}`),
    );
  }
}
