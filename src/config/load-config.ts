/** Environment to AppConfig. The only reader of the environment; every fault is reported together. */
import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { join, resolve } from 'node:path';
import { withHostList } from '../pg-pipeline';
import { AppConfig, PlanQuotasConfig, ServerConfig } from './app-config';
import { backupConfig, backupFaults } from './backup-config';
import { defaultConnections } from './connection-budget';
import { EnvironmentVariables } from './env.schema';
import { oidcConfig, oidcFaults } from './oidc-config';
import { parsePlanQuotas, PlanQuotas } from './plan-quotas';
import { readOrCreateSecret } from './secret-file';
import { storageConfig, storageFaults } from './storage-config';

const EMBEDDED_PORT_DISTANCE = 10_000;
const LAST_PORT = 65_535;
/** File of the generated PLATFORM_ADMIN_KEY in the data directory. */
export const ADMIN_KEY_FILE = 'platform-admin-key';
/** Bytes: the default of MAX_BUFFERED_RESULTS, unless this many times MAX_RESULT_SIZE is more. */
const BUFFERED_RESULTS = 256 * 1024 * 1024;
const RESULTS_BY_DEFAULT = 4;
/** Results of MAX_RESULT_SIZE in the least MAX_BUFFERED_RESULTS: one client may hold half of it. */
const LEAST_RESULTS = 2;
/** Bytes: the default of MAX_BUFFERED_BODIES. */
const BUFFERED_BODIES = 384 * 1024 * 1024;
/** A body takes up to six times its size in memory, and one client may have half of the budget. */
const BODIES_OF_BUDGET = 12;
/** Bytes: twice the memory of a small JSON body or form of 1 MiB (body-reader.ts). */
const SMALLEST_BUDGET = 64 * 1024 * 1024;

/** All faults of the environment, in one message. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The configuration is not valid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Validates the environment and freezes the result. An empty variable counts as absent, as in `.env.example`.
 * Generates PLATFORM_ADMIN_KEY and MASTER_KEY into the data directory (mode 0600) where they are not given.
 * @throws ConfigError naming every fault
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): AppConfig {
  const env = validateEnvironment(environment);
  const dataDir = resolve(env.DATA_DIR);
  return freeze({
    server: serverConfig(env),
    dataDir,
    database: {
      url: env.DATABASE_URL === undefined ? null : withHostList(env.DATABASE_URL),
      embeddedPort: env.EMBEDDED_DATABASE_PORT ?? embeddedPort(env.PORT),
      walArchiveDir: env.WAL_ARCHIVE_DIR ? resolve(env.WAL_ARCHIVE_DIR) : null,
      maxConnections: env.DATABASE_MAX_CONNECTIONS ?? defaultConnections(env.DATABASE_URL, env.WORKERS),
      projectConnections: env.DATABASE_PROJECT_CONNECTIONS,
    },
    redisUrl: env.REDIS_URL ?? null,
    mail: {
      smtpUrl: env.SMTP_URL ?? null,
      from: env.MAIL_FROM,
      outboxDir: join(dataDir, 'mail'),
      retryDelayMs: env.MAIL_RETRY_DELAY * 1000,
      recoveryIntervalMs: env.MAIL_RECOVERY_INTERVAL * 1000,
    },
    secrets: {
      platformAdminKey: env.PLATFORM_ADMIN_KEY ?? readOrCreateSecret(join(dataDir, ADMIN_KEY_FILE)),
      masterKey: env.MASTER_KEY ?? readOrCreateSecret(join(dataDir, 'master-key')),
      metricsToken: env.METRICS_TOKEN ?? null,
    },
    storage: storageConfig(env, dataDir),
    backups: backupConfig(env, dataDir),
    passwords: { bcryptCost: env.BCRYPT_COST },
    auth: {
      failuresPerAccount: env.AUTH_FAILURES_PER_ACCOUNT,
      failuresPerAddress: env.AUTH_FAILURES_PER_ADDRESS,
      requestsPerMinute: env.AUTH_REQUESTS_PER_MINUTE,
      mailsPerHour: env.AUTH_MAILS_PER_HOUR,
    },
    staff: {
      sessionIdleMs: env.STAFF_SESSION_IDLE * 1000,
      sessionLifetimeMs: env.STAFF_SESSION_LIFETIME * 1000,
      oidc: oidcConfig(env),
    },
    planQuotas: planQuotas(env),
    logLevel: env.LOG_LEVEL,
  });
}

function planQuotas(env: EnvironmentVariables): PlanQuotasConfig {
  const quotasOf = (text = ''): PlanQuotas => parsePlanQuotas(text) as PlanQuotas;
  return {
    free: quotasOf(env.QUOTAS_FREE),
    pro: quotasOf(env.QUOTAS_PRO),
    enterprise: quotasOf(env.QUOTAS_ENTERPRISE),
  };
}

function serverConfig(env: EnvironmentVariables): ServerConfig {
  return {
    port: env.PORT,
    host: env.HOST,
    publicUrl: publicUrl(env),
    workers: env.WORKERS,
    shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT * 1000,
    shutdownDelayMs: env.SHUTDOWN_DELAY * 1000,
    trustProxy: trustProxy(env.TRUST_PROXY),
    maxBodyBytes: env.MAX_BODY_SIZE,
    metrics: env.METRICS_PORT ? { port: env.METRICS_PORT, host: env.METRICS_HOST ?? env.HOST } : null,
    requestLog: env.REQUEST_LOG === 'true',
    traceEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    maxBufferedBytes: env.MAX_BUFFERED_BODIES ?? Math.max(BUFFERED_BODIES, leastBudget(env)),
    maxResultBytes: env.MAX_RESULT_SIZE,
    maxBufferedResultBytes:
      env.MAX_BUFFERED_RESULTS ?? Math.max(BUFFERED_RESULTS, RESULTS_BY_DEFAULT * env.MAX_RESULT_SIZE),
    minBodyRate: env.MIN_BODY_RATE,
    bodyRateWindowMs: env.BODY_RATE_WINDOW * 1000,
    bodyTimeoutMs: env.BODY_TIMEOUT * 1000,
    maxClientConnections: env.MAX_CLIENT_CONNECTIONS,
  };
}

/** @throws ConfigError naming every fault */
export function validateEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentVariables {
  const known = Object.keys(new EnvironmentVariables());
  const given = Object.fromEntries(
    known.filter((name) => environment[name]?.trim()).map((n) => [n, environment[n]]),
  );
  const env = plainToInstance(EnvironmentVariables, given, { exposeDefaultValues: true });
  const faults = validateSync(env, { stopAtFirstError: true }).flatMap(({ constraints }) =>
    Object.values(constraints ?? {}),
  );
  if (env.WORKERS > 1 && !env.REDIS_URL) {
    faults.push(
      'WORKERS: more than one process needs REDIS_URL, so that all share one count of each rate limit',
    );
  }
  if (env.EMBEDDED_DATABASE_PORT && env.EMBEDDED_DATABASE_PORT === env.PORT) {
    faults.push('EMBEDDED_DATABASE_PORT must not be the same as PORT');
  }
  faults.push(...walArchiveFaults(env));
  if (env.METRICS_PORT !== undefined && env.METRICS_PORT === env.PORT) {
    faults.push('METRICS_PORT: must be another port than PORT');
  }
  if (env.MAX_BUFFERED_BODIES !== undefined && env.MAX_BUFFERED_BODIES < leastBudget(env)) {
    faults.push(
      `MAX_BUFFERED_BODIES: must be at least ${leastBudget(env)} bytes, so that a body of MAX_BODY_SIZE fits`,
    );
  }
  const leastResults = LEAST_RESULTS * env.MAX_RESULT_SIZE;
  if (env.MAX_BUFFERED_RESULTS !== undefined && env.MAX_BUFFERED_RESULTS < leastResults) {
    faults.push(
      `MAX_BUFFERED_RESULTS: must be at least ${leastResults} bytes, so that a result of MAX_RESULT_SIZE fits`,
    );
  }
  faults.push(...storageFaults(env), ...backupFaults(env), ...oidcFaults(env));
  if (faults.length > 0) throw new ConfigError(faults);
  return env;
}

function walArchiveFaults({ WAL_ARCHIVE_DIR, DATABASE_URL, DATA_DIR }: EnvironmentVariables): string[] {
  if (!WAL_ARCHIVE_DIR) return [];
  if (DATABASE_URL) return ['WAL_ARCHIVE_DIR: only the log of the embedded PostgreSQL is archived'];
  return `${resolve(WAL_ARCHIVE_DIR)}/`.startsWith(`${resolve(DATA_DIR)}/`)
    ? ['WAL_ARCHIVE_DIR: must be outside of DATA_DIR, and should be on another disk']
    : [];
}

/** Far enough from PORT that a neighbour's PORT is never the database's; 0, any free port, where PORT is 0. */
function embeddedPort(port: number): number {
  if (port === 0) return 0;
  return port + EMBEDDED_PORT_DISTANCE <= LAST_PORT
    ? port + EMBEDDED_PORT_DISTANCE
    : port - EMBEDDED_PORT_DISTANCE;
}

/** Without a trailing slash. */
export function publicUrl({ PUBLIC_URL, PORT }: EnvironmentVariables): string {
  return (PUBLIC_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, '');
}

/** The least MAX_BUFFERED_BODIES, in bytes. */
function leastBudget(env: EnvironmentVariables): number {
  return Math.max(SMALLEST_BUDGET, BODIES_OF_BUDGET * env.MAX_BODY_SIZE);
}

function trustProxy(value: string | undefined): number | string | false {
  if (value === undefined || value === 'false') return false;
  return /^\d+$/.test(value) ? Number(value) : value;
}

function freeze<T extends object>(value: T): T {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) freeze(member);
  return Object.freeze(value);
}
