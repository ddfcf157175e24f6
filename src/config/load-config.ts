/** Environment to AppConfig. The only reader of the environment; every fault is reported together. */
import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../common/errors/error-facts';
import { withHostList } from '../pg-pipeline';
import { AppConfig, ServerConfig, StorageConfig } from './app-config';
import { fileArchive, fileArchiveFaults, backupConfig, backupFaults } from './backup-config';
import { defaultConnections, memoryBudget } from './connection-budget';
import { EnvironmentVariables } from './env.schema';
import { staffFaults, staffSetting, staffSignIn } from './staff-sign-in-config';
import { parsePlanQuotas, type PlanQuotasConfig } from './plan-quotas';
import { readOrCreateSecret, readSecretIn } from './secret-file';
import { givenSettings } from './setting-files';
import { filesLimit, filesUrl, storageConfig, storageFaults } from './storage-config';
import type { StoreUrl } from './store-url';
import { TUNING, type Tuning } from './tuning';

const EMBEDDED_PORT_DISTANCE = 10_000;
const LAST_PORT = 65_535;
/** File of the generated PLATFORM_ADMIN_KEY in the data directory. */
export const ADMIN_KEY_FILE = 'platform-admin-key';
/** File of MASTER_KEY_OTHER in the data directory, if no variable sets it. */
export const OTHER_MASTER_KEY_FILE = 'master-key-other';
/** A body takes up to six times its size in memory, and one client may have half of the budget. */
const BODIES_OF_BUDGET = 12;
/** Bodies may take a quarter of the memory of the machine or container, results that wait an eighth. */
const [BODIES_PARTS, RESULTS_PARTS] = [4, 8];
/** The embedded PostgreSQL shares the memory: bodies may take an eighth, and its statements of them a quarter. */
const [EMBEDDED_PARTS, STATEMENTS_PARTS] = [8, 4];
/** Wrong passwords from one address without a delay. */
const MIN_FAILURES = 3;
/** A session ends after this many idle timeouts, even if it is used. */
const SESSION_LIFETIMES = 21;
/** Settings whose format has changed, and which must not be ignored. */
const RENAMED: Readonly<Record<string, string>> = {
  BACKUP_DIR: 'BACKUP_URL=file:///directory',
  BACKUP_BUCKET:
    'BACKUP_URL=s3://key:secret@bucket/folder?endpoint=...&region=... or gs://bucket/folder?key_file=...',
  BACKUP_COMPRESSION: 'BACKUP_URL=file:///directory?compression=...',
  METRICS_HOST: 'METRICS_PORT=address:port',
  ...formerly('STORAGE_URL=s3://key:secret@bucket/folder?endpoint=...&region=...&path_style=...', [
    'STORAGE_S3_REGION',
    'STORAGE_S3_PATH_STYLE',
    'STORAGE_S3_ACCESS_KEY_ID',
    'STORAGE_S3_SECRET_ACCESS_KEY',
  ]),
  ...formerly('STORAGE_URL=s3://bucket/folder?endpoint=... or gs://bucket/folder?endpoint=...', [
    'STORAGE_BUCKET',
    'STORAGE_PREFIX',
    'STORAGE_ENDPOINT',
  ]),
  STORAGE_GCS_KEY_FILE: 'STORAGE_URL=gs://bucket/folder?key_file=...',
  STORAGE_DISK_DIR: 'STORAGE_URL=file:///directory',
  STORAGE_ACCEL_REDIRECT: 'STORAGE_URL=file:///directory?accel_redirect=...',
  CLAMD_TIMEOUT: 'CLAMD_URL=tcp://...?timeout=...',
  ...formerly(staffSetting('oidc'), [
    'STAFF_OIDC',
    'STAFF_OIDC_ISSUER',
    'STAFF_OIDC_CLIENT_ID',
    'STAFF_OIDC_CLIENT_SECRET',
    'STAFF_OIDC_SCOPES',
    'STAFF_OIDC_GROUPS_CLAIM',
    'STAFF_OIDC_ROLES',
  ]),
  STAFF_SAML: staffSetting('saml'),
  STAFF_LDAP: staffSetting('ldap'),
  STORAGE_TOTAL_LIMIT: 'STORAGE_URL=file:///directory?limit=...',
  DISK_BALLAST: 'DISK_RESERVE=..., where 0 means no ballast, and any other reserve one of 64 MiB',
  HISTORY_SIZE: 'HISTORY_DAYS=..., with at most 64 MiB of each project',
  QUOTAS_FREE: 'QUOTAS=free: ...',
  QUOTAS_PRO: 'QUOTAS=pro: ...',
  QUOTAS_ENTERPRISE: 'QUOTAS=enterprise: ...',
};

function formerly(form: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, form]));
}

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
 * @param changes for tests
 * @throws ConfigError naming every fault
 */
export function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  changes: Partial<Tuning> = {},
): AppConfig {
  const env = validateEnvironment(environment);
  const tuning = { ...TUNING, ...changes };
  const dataDir = resolve(env.DATA_DIR);
  const masterKey = env.MASTER_KEY ?? readOrCreateSecret(join(dataDir, 'master-key'));
  const otherMasterKey = env.MASTER_KEY_OTHER ?? readSecretIn(dataDir, OTHER_MASTER_KEY_FILE);
  return freeze({
    server: serverConfig(env, tuning),
    dataDir,
    database: {
      url: env.DATABASE_URL === undefined ? null : withHostList(env.DATABASE_URL),
      embeddedPort: env.EMBEDDED_DATABASE_PORT ?? embeddedPort(env.PORT),
      walArchiveDir: env.WAL_ARCHIVE_DIR ? resolve(env.WAL_ARCHIVE_DIR) : null,
      maxConnections: env.DATABASE_MAX_CONNECTIONS ?? defaultConnections(env.DATABASE_URL, env.WORKERS),
      projectConnections: env.DATABASE_PROJECT_CONNECTIONS,
    },
    disk: {
      reserveBytes: env.DISK_RESERVE,
      ballastBytes: env.DISK_RESERVE === 0 ? 0 : tuning.ballastBytes,
      filesLimitBytes: filesLimit(env),
    },
    redisUrl: env.REDIS_URL ?? null,
    mail: {
      smtpUrl: env.SMTP_URL ?? null,
      from: env.MAIL_FROM,
      outboxDir: join(dataDir, 'mail'),
      retryDelayMs: tuning.mailRetryDelayMs,
      recoveryIntervalMs: tuning.mailRecoveryIntervalMs,
    },
    secrets: {
      platformAdminKey: env.PLATFORM_ADMIN_KEY ?? readOrCreateSecret(join(dataDir, ADMIN_KEY_FILE)),
      masterKey,
      otherMasterKey: otherMasterKey === masterKey ? null : otherMasterKey,
      metricsToken: env.METRICS_TOKEN ?? null,
    },
    storage: storageOf(env, dataDir, tuning),
    backups: backupConfig(env, dataDir, tuning),
    passwords: { bcryptCost: tuning.bcryptCost },
    auth: {
      failuresPerAccount: tuning.failuresPerAccount,
      failuresPerAddress: Math.max(
        MIN_FAILURES,
        Math.round(env.AUTH_REQUESTS_PER_MINUTE * tuning.failureShare),
      ),
      requestsPerMinute: env.AUTH_REQUESTS_PER_MINUTE,
      mailsPerHour: tuning.mailsPerHour,
      allowedHosts: hostList(env.AUTH_ALLOWED_HOSTS),
      breachedPasswordsUrl: env.BREACHED_PASSWORDS_URL,
    },
    webhooks: {
      allowedHosts: hostList(env.WEBHOOK_ALLOWED_HOSTS),
      timeoutMs: env.WEBHOOK_TIMEOUT * 1000,
      retryDelayMs: env.WEBHOOK_RETRY_DELAY * 1000,
    },
    staff: {
      sessionIdleMs: env.STAFF_SESSION_IDLE * 1000,
      sessionLifetimeMs: env.STAFF_SESSION_IDLE * 1000 * SESSION_LIFETIMES,
      ...staffSignIn(env),
    },
    planQuotas: parsePlanQuotas(env.QUOTAS ?? '') as PlanQuotasConfig,
    logLevel: env.LOG_LEVEL,
  });
}

/** The configuration must have no faults. */
export function storageOf(env: EnvironmentVariables, dataDir: string, tuning: Tuning): StorageConfig {
  const files = storageConfig(env, filesUrl(env) as StoreUrl, dataDir, tuning);
  return { ...files, archive: fileArchive(env, dataDir, tuning) };
}

const hostList = (text = ''): string[] =>
  text
    .split(',')
    .map((host) => host.trim())
    .filter(Boolean);

function serverConfig(env: EnvironmentVariables, tuning: Tuning): ServerConfig {
  return {
    port: env.PORT,
    host: env.HOST,
    publicUrl: publicUrl(env),
    workers: env.WORKERS,
    shutdownTimeoutMs: env.SHUTDOWN_TIMEOUT * 1000,
    shutdownDelayMs: env.SHUTDOWN_DELAY * 1000,
    trustProxy: trustProxy(env.TRUST_PROXY),
    maxBodyBytes: env.MAX_BODY_SIZE,
    metrics: addressOf(env.METRICS_PORT, env),
    s3: addressOf(env.S3_PORT, env),
    s3Host: env.S3_HOST ?? null,
    requestLog: env.REQUEST_LOG === 'true',
    historyDays: env.HISTORY_DAYS,
    historyBytes: tuning.historyBytes,
    traceEndpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    maxBufferedBytes: Math.max(
      memoryBudget(
        tuning.bufferedBodies,
        env.DATABASE_URL === undefined ? EMBEDDED_PARTS : BODIES_PARTS,
        env.WORKERS,
      ),
      BODIES_OF_BUDGET * env.MAX_BODY_SIZE,
    ),
    maxStatementBytes:
      env.DATABASE_URL === undefined ? memoryBudget(Infinity, STATEMENTS_PARTS, env.WORKERS) : Infinity,
    maxResultBytes: env.MAX_RESULT_SIZE,
    maxBufferedResultBytes: Math.max(
      memoryBudget(
        Math.max(tuning.bufferedResults, tuning.resultsOfBudget * env.MAX_RESULT_SIZE),
        RESULTS_PARTS,
        env.WORKERS,
      ),
      env.MAX_RESULT_SIZE,
    ),
    minBodyRate: tuning.minBodyRate,
    bodyRateWindowMs: tuning.bodyRateWindowMs,
    bodyTimeoutMs: tuning.bodyTimeoutMs,
    maxClientConnections: env.MAX_CLIENT_CONNECTIONS,
    changeLogMs: tuning.changeLogMs,
    changeLogBytes: tuning.changeLogBytes,
  };
}

/** @throws ConfigError naming every fault */
export function validateEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): EnvironmentVariables {
  const faults: string[] = [];
  const given = givenSettings(environment, Object.keys(new EnvironmentVariables()), faults);
  // With both, servers of either version can start during an upgrade.
  const renamed = Object.entries(RENAMED).filter(
    ([name, form]) => environment[name]?.trim() && !(form.replace(/=.*$/s, '') in given),
  );
  const env = plainToInstance(EnvironmentVariables, given, { exposeDefaultValues: true });
  const invalid = validateSync(env, { stopAtFirstError: true });
  faults.push(
    ...invalid.flatMap(({ constraints }) => Object.values(constraints ?? {})),
    ...renamed.map(([name, form]) => `${name} has a new format: ${form} (docs/reference/configuration.md)`),
  );
  if (env.WORKERS > 1 && !env.REDIS_URL) {
    faults.push(
      'WORKERS: more than one process needs REDIS_URL, so that all share one count of each rate limit',
    );
  }
  if (env.EMBEDDED_DATABASE_PORT && env.EMBEDDED_DATABASE_PORT === env.PORT) {
    faults.push('EMBEDDED_DATABASE_PORT must not be the same as PORT');
  }
  faults.push(...walArchiveFaults(env), ...breachFaults(env));
  for (const name of ['METRICS_PORT', 'S3_PORT'] as const)
    if (addressOf(env[name], env)?.port === env.PORT) faults.push(`${name}: must differ from PORT`);
  faults.push(...storageFaults(env), ...backupFaults(env), ...fileArchiveFaults(env), ...staffFaults(env));
  if (faults.length > 0) throw new ConfigError(faults);
  return env;
}

/** A list that cannot be read would let all passwords pass. */
function breachFaults({ BREACHED_PASSWORDS_URL: url }: EnvironmentVariables): string[] {
  if (!/^file:\/\/\//i.test(url)) return [];
  try {
    accessSync(fileURLToPath(url), constants.R_OK);
    return [];
  } catch (error) {
    return [`BREACHED_PASSWORDS_URL: the file cannot be read: ${messageOf(error)}`];
  }
}

function walArchiveFaults({ WAL_ARCHIVE_DIR, DATABASE_URL, DATA_DIR }: EnvironmentVariables): string[] {
  if (!WAL_ARCHIVE_DIR) return [];
  if (DATABASE_URL) return ['WAL_ARCHIVE_DIR: only the log of the embedded PostgreSQL is archived'];
  return `${resolve(WAL_ARCHIVE_DIR)}/`.startsWith(`${resolve(DATA_DIR)}/`)
    ? ['WAL_ARCHIVE_DIR: must be outside of DATA_DIR, and should be on another disk']
    : [];
}

/** Far enough from PORT that it does not collide with the PORT of another instance; 0, any free port, where PORT is 0. */
function embeddedPort(port: number): number {
  if (port === 0) return 0;
  return port + EMBEDDED_PORT_DISTANCE <= LAST_PORT
    ? port + EMBEDDED_PORT_DISTANCE
    : port - EMBEDDED_PORT_DISTANCE;
}

/** Without a trailing slash. */
export function publicUrl({ PUBLIC_URL, PORT }: Pick<EnvironmentVariables, 'PUBLIC_URL' | 'PORT'>): string {
  return (PUBLIC_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, '');
}

/** `9090`, `127.0.0.1:9090` or `[::1]:9090`. */
function addressOf(given: string | undefined, { HOST }: EnvironmentVariables): ServerConfig['metrics'] {
  const [, host, port] = /^(?:\[?(.*?)\]?:)?(\d+)$/.exec(given ?? '') ?? [];
  return port === undefined ? null : { port: Number(port), host: host ?? HOST };
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
