/** Starts and stops a serving process: database, application, graceful shutdown. */
import { Logger } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppConfig } from '../config/app-config';
import { directoryFault } from '../config/directory-error';
import { Ballast } from '../database/embedded/ballast';
import { connectionLimits } from '../database/embedded/cluster-limits';
import type { EmbeddedPostgresError } from '../database/embedded/embedded-postgres.error';
import { diskSettings } from '../database/embedded/disk-space';
import { EmbeddedSupervisor } from '../database/embedded/embedded-supervisor';
import { InstanceLock } from '../database/embedded/instance-lock';
import { assertNoUnfinishedRestore } from '../backup/physical/unfinished-restore';
import { dropSlot, SLOT_SETTINGS, WalReceiver } from '../backup/physical/wal-receiver';
import { ReadinessService } from '../health/readiness.service';
import { createApp } from './create-app';
import type { DrainableServer } from './drainable-server';

/** Name of the platform database on the embedded server. */
const PLATFORM_DATABASE = 'plinth';

/** Milliseconds for closing connections and background work after the last request: PostgreSQL may not answer. */
const CLOSE_LIMIT_MS = 10_000;

/** Listening on HOST and PORT failed. The message is for the administrator. */
class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface RunningDatabase {
  readonly platformUrl: string;
  /** Resolves with the fault when an embedded PostgreSQL cannot be kept running. */
  readonly lost: Promise<EmbeddedPostgresError>;
  /** Null without WAL_ARCHIVE_DIR. */
  readonly archive: WalReceiver | null;
  stop(): Promise<void>;
}

/**
 * Locks the data directory and, without DATABASE_URL, starts the PostgreSQL in it.
 * @param say called with a line about each step that takes time, and about each unexpected end of PostgreSQL
 * @throws DataDirInUseError, DirectoryError, EmbeddedPostgresError
 */
export async function startDatabase(
  config: AppConfig,
  say: (message: string) => void,
): Promise<RunningDatabase> {
  if (config.database.url) {
    return {
      platformUrl: config.database.url,
      lost: new Promise(() => undefined),
      archive: null,
      stop: async () => undefined,
    };
  }
  const { dataDir, database } = config;
  const lock = await InstanceLock.acquire(dataDir).catch((error: unknown) => {
    throw directoryFault('DATA_DIR', dataDir, error);
  });
  try {
    await assertNoUnfinishedRestore(dataDir);
    const { ballastBytes: bytes, reserveBytes: reserve } = config.disk;
    const ballast = await Ballast.keep({ dataDir, bytes, reserve, say });
    const settings = {
      ...connectionLimits(database.maxConnections * config.server.workers),
      ...(await diskSettings(dataDir)),
      ...SLOT_SETTINGS,
    };
    const postgres = await EmbeddedSupervisor.start(
      { dataDir, port: database.embeddedPort || undefined, settings, onProgress: say },
      say,
    );
    const platformUrl = platformUrlOf(postgres);
    const receiver = await startArchiving(postgres.url, config, say);
    ballast.watch();
    return {
      platformUrl,
      lost: postgres.gaveUp,
      archive: receiver,
      stop: async () => {
        // Both at the same time, because PostgreSQL does not end until the rest of its log was archived.
        try {
          await Promise.all([receiver?.stop(), postgres.stop(), ballast.stop()]);
        } finally {
          await lock.release();
        }
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startArchiving(
  url: string,
  { dataDir, database: { walArchiveDir: directory } }: AppConfig,
  say: (message: string) => void,
): Promise<WalReceiver | null> {
  if (directory !== null) return WalReceiver.start({ url, directory, say });
  await dropSlot(url, join(dataDir, 'postgres'));
  return null;
}

function platformUrlOf({ url, socketDirectory }: EmbeddedSupervisor): string {
  const platformUrl = new URL(url);
  platformUrl.pathname = `/${PLATFORM_DATABASE}`;
  // As in libpq: the URL keeps the server's address for other clients, and Plinth connects through the socket.
  if (socketDirectory !== null) platformUrl.searchParams.set('host', socketDirectory);
  return platformUrl.href;
}

/** Checks that HOST and PORT are available before anything is started. @throws ListenError */
export async function assertPortFree({ server: { host, port } }: AppConfig): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, host, port);
  await new Promise((resolve) => probe.close(resolve));
}

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

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new ListenError(listenFault(host, port, error), { cause: error })),
    );
    server.listen(port, host, resolve);
  });
}

function listenFault(host: string, port: number, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken: stop what listens there, or set PORT to another one.`;
    case 'EACCES':
      return (
        `Port ${port} on ${host} is not allowed to this user: set PORT to 1024 or more, ` +
        'or start Plinth with the capability CAP_NET_BIND_SERVICE.'
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return (
        'HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them; ' +
        `${host} is none (${code}).`
      );
    default:
      return `Plinth cannot listen on port ${port} of ${host}: ${message}`;
  }
}
