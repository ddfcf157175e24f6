/** Starts and stops the application of a process: listening, graceful shutdown. */
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppConfig } from '../config/app-config';
import { ReadinessService } from '../health/readiness.service';
import { createApp } from './create-app';
import type { DrainableServer } from './drainable-server';
import { listen } from './listen';

/** Milliseconds for closing connections and background work after the last request: PostgreSQL may not answer. */
const CLOSE_LIMIT_MS = 10_000;

/** Builds the application and starts to listen. @throws ListenError */
export async function startHttp(config: AppConfig, app: NestExpressApplication): Promise<Server> {
  await app.init();
  const server = app.getHttpServer();
  await listen(server, config.server.host, config.server.port);
  return server;
}

/**
 * Continues to serve for SHUTDOWN_DELAY and reports that it is not ready; then stops listening, completes requests in progress
 * within the limit, and closes the application's resources.
 * @throws Error when they cannot be closed in time
 */
export async function stopHttp(
  config: AppConfig,
  app: NestExpressApplication<DrainableServer>,
): Promise<void> {
  const server = app.getHttpServer();
  const { shutdownDelayMs, shutdownTimeoutMs } = config.server;
  if (server.listening && shutdownDelayMs > 0) {
    app.get(ReadinessService).retire();
    server.retire();
    await sleep(shutdownDelayMs);
  }
  await server.drain(shutdownTimeoutMs);
  const closed = app.close().then(
    () => true,
    (error: Error) => {
      new Logger('Shutdown').error(error.message, error.stack);
      return true;
    },
  );
  if (!(await Promise.race([closed, sleep(CLOSE_LIMIT_MS, false)])))
    throw new Error(`Connections could not be closed within ${CLOSE_LIMIT_MS / 1_000} seconds.`);
}

/** Milliseconds in which a process ends after SIGTERM. */
export const endLimitMs = ({ server: { shutdownDelayMs, shutdownTimeoutMs } }: AppConfig): number =>
  shutdownDelayMs + shutdownTimeoutMs + CLOSE_LIMIT_MS;

/**
 * Like stopHttp(), for a process whose successor serves already: idle connections stay open for SHUTDOWN_TIMEOUT, and requests get
 * the same time again.
 */
export async function retireHttp(
  config: AppConfig,
  app: NestExpressApplication<DrainableServer>,
): Promise<void> {
  const { shutdownTimeoutMs } = config.server;
  await app.getHttpServer().drain(2 * shutdownTimeoutMs, shutdownTimeoutMs);
  await stopHttp(config, app);
}

/** Creates the application for a configuration and a running database. */
export function buildApp(
  config: AppConfig,
  platformUrl: string,
): Promise<NestExpressApplication<DrainableServer>> {
  return createApp({ config, platformUrl });
}
