/** From configuration to a serving process and back: database, application, signals, orderly end. */
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createServer, type Server } from 'node:http';
import { DocumentService } from '../api-docs/document.service';
import { AppConfig } from '../config/app-config';
import { EmbeddedPostgres } from '../database/embedded/embedded-postgres';
import { InstanceLock } from '../database/embedded/instance-lock';
import { createApp } from './create-app';
import type { DrainableServer } from './drainable-server';

/** Name of the platform database on the embedded server. */
const PLATFORM_DATABASE = 'plinth';

/** The address is taken; the message is one clear line. */
export class PortTakenError extends Error {
  constructor(host: string, port: number) {
    super(`Port ${port} on ${host} is taken: stop what listens there, or set PORT to another one.`);
    this.name = 'PortTakenError';
  }
}

export interface RunningDatabase {
  readonly platformUrl: string;
  /** Resolves when an embedded PostgreSQL ended although nobody stopped it. */
  readonly lost: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts what the data directory needs: nobody else may use it, and without DATABASE_URL a PostgreSQL lives in it.
 * @throws DataDirInUseError, EmbeddedPostgresError
 */
export async function startDatabase(
  config: AppConfig,
  onProgress: (message: string) => void,
): Promise<RunningDatabase> {
  if (config.database.url) {
    return {
      platformUrl: config.database.url,
      lost: new Promise(() => undefined),
      stop: async () => undefined,
    };
  }
  const lock = await InstanceLock.acquire(config.dataDir);
  try {
    const postgres = await EmbeddedPostgres.start({ dataDir: config.dataDir, onProgress });
    let stopped = false;
    const platformUrl = new URL(postgres.url);
    platformUrl.pathname = `/${PLATFORM_DATABASE}`;
    // As libpq reads it: the address stays that of the server for others, and Plinth takes the shorter road.
    if (postgres.socketDirectory !== null) platformUrl.searchParams.set('host', postgres.socketDirectory);
    return {
      platformUrl: platformUrl.href,
      lost: new Promise((resolve) => void postgres.exited.then(() => !stopped && resolve())),
      stop: async () => {
        stopped = true;
        await postgres.stop();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Fails early, before anything is started, when nobody could connect in the end. @throws PortTakenError */
export async function assertPortFree({ server: { host, port } }: AppConfig): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, host, port);
  await new Promise((resolve) => probe.close(resolve));
}

/** Builds the application and begins to serve. @throws PortTakenError */
export async function startHttp(config: AppConfig, app: NestExpressApplication): Promise<Server> {
  await app.init();
  // Takes a fifth of a second: before the first request rather than while others wait.
  app.get(DocumentService).get();
  const server = app.getHttpServer();
  await listen(server, config.server.host, config.server.port);
  return server;
}

/** Stops serving, finishes running requests within the limit, and closes what the application holds. */
export async function stopHttp(config: AppConfig, app: NestExpressApplication): Promise<void> {
  await (app.getHttpServer() as DrainableServer).drain(config.server.shutdownTimeoutMs);
  await app.close().catch((error: Error) => {
    new Logger('Shutdown').error(error.message, error.stack);
  });
}

/** The application for a configuration and a running database. */
export function buildApp(config: AppConfig, platformUrl: string): Promise<NestExpressApplication> {
  return createApp({ config, platformUrl });
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortTakenError(host, port) : error),
    );
    server.listen(port, host, resolve);
  });
}
