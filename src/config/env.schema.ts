/**
 * The settings, which are environment variables, with their checks. `.env.example` documents each; a test compares the two.
 */
import { IsEmail, IsIn, IsOptional, IsString, MinLength } from 'class-validator';
import {
  Form,
  HttpUrl,
  HttpUrlOrFile,
  Port,
  Quotas,
  Secret,
  ServerUrl,
  SizeInBytes,
  WholeNumber,
} from './env.checks';

/** A port up to 65535, and an address before it. */
const METRICS_ADDRESS =
  /^(?:(?:[\w.-]+|\[[0-9a-f:.]+\]):)?(?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])$/i;

const HOST_LIST = /^\s*[\w.:-]+(\s*,\s*[\w.:-]+)*\s*$/;

export class EnvironmentVariables {
  @Port(1) PORT = 8080;

  @IsString() HOST = '0.0.0.0';

  /** Absolute address under which clients reach Plinth; default: http://localhost:PORT. */
  @IsOptional() @HttpUrl() PUBLIC_URL?: string;

  /** Second port, for metrics and probes without credentials, with an address if it is not HOST; default: none. */
  @IsOptional()
  @Form(METRICS_ADDRESS, 'a port such as 9090 or 127.0.0.1:9090')
  METRICS_PORT?: string;

  /** Port at whose root the S3 protocol is served, with an address if it is not HOST; default: none. */
  @IsOptional()
  @Form(METRICS_ADDRESS, 'a port such as 9000 or 127.0.0.1:9000')
  S3_PORT?: string;

  /** Name under which the S3 protocol is served at the root, and each bucket at a name below it; default: none. */
  @IsOptional()
  @Form(/^[a-z0-9-]+(\.[a-z0-9-]+)*$/, 'a name such as s3.example.com')
  S3_HOST?: string;

  @IsString() @MinLength(1) DATA_DIR = './data';

  @IsOptional() @ServerUrl('postgres', 'postgresql') DATABASE_URL?: string;

  /** TCP port of the embedded PostgreSQL on 127.0.0.1; 0 for any free one. Default: PORT + 10000. */
  @IsOptional() @Port(1_024) EMBEDDED_DATABASE_PORT?: number;

  /** Free space that uploads, restores and other large writes must leave on the disk; 0: none, and no ballast either. */
  @SizeInBytes(0) DISK_RESERVE = 256 * 1024 * 1024;

  /** Directory to which the write-ahead log of the embedded PostgreSQL is archived; default: it is not archived. */
  @IsOptional() @IsString() WAL_ARCHIVE_DIR?: string;

  /** Connections of each process; default: depends on the machine's memory, or 80 with DATABASE_URL. */
  @IsOptional() @WholeNumber(4, 10_000) DATABASE_MAX_CONNECTIONS?: number;

  @WholeNumber(1, 1_000) DATABASE_PROJECT_CONNECTIONS = 12;

  @IsOptional() @ServerUrl('redis', 'rediss') REDIS_URL?: string;

  @IsOptional() @ServerUrl('smtp', 'smtps') SMTP_URL?: string;

  @IsEmail({ allow_display_name: true, require_tld: false }) MAIL_FROM = 'Plinth <plinth@localhost>';

  // A bearer token has no other characters (RFC 6750, 2.1).
  @IsOptional()
  @Secret(24)
  @Form(/^[\w.~+/=-]+$/, 'letters, digits and - . _ ~ + / =')
  PLATFORM_ADMIN_KEY?: string;

  @IsOptional() @Secret(32) MASTER_KEY?: string;

  /** A second key: secrets that are encrypted under it are re-encrypted under MASTER_KEY. */
  @IsOptional() @Secret(32) MASTER_KEY_OTHER?: string;

  /** Bearer token that reads GET /metrics, in addition to PLATFORM_ADMIN_KEY; default: none. */
  @IsOptional() @Secret(16) METRICS_TOKEN?: string;

  /** Encrypts the secrets in backups; default: none. */
  @IsOptional() @Secret(12) BACKUP_PASSPHRASE?: string;

  /** Public keys of age, for which backups are encrypted as a whole. */
  @IsOptional() @IsString() BACKUP_RECIPIENTS?: string;

  /** File with the private keys that open encrypted backups. */
  @IsOptional() @IsString() BACKUP_IDENTITY_FILE?: string;

  /** Extensions that a restore may create, in addition to trusted extensions. */
  @IsString() RESTORE_EXTENSIONS = 'pg_stat_statements,pgrouting,postgis,postgis_topology,vector';

  /** Where scheduled backups are stored (store-url.ts); default: DATA_DIR/backups. */
  @IsOptional() @IsString() BACKUP_URL?: string;

  /** Where each file on disk is copied when it is stored (store-url.ts); default: WAL_ARCHIVE_DIR/files. */
  @IsOptional() @IsString() FILE_ARCHIVE_URL?: string;

  /** Default: that of STORAGE_URL, or disk. */
  @IsOptional() @IsIn(['disk', 'gcs', 's3']) STORAGE_PROVIDER?: 'disk' | 'gcs' | 's3';

  /** Where files are stored (store-url.ts); default: DATA_DIR/files. */
  @IsOptional() @IsString() STORAGE_URL?: string;

  /** Virus scanner that reads each upload; default: none. */
  @IsOptional()
  @Form(
    /^(tcp:\/\/[\w.:[\]-]+|unix:\/[^\s?#%]+)(\?timeout=(?:[1-9]\d{0,2}|[12]\d{3}|3[0-5]\d\d|3600))?$/,
    'tcp://127.0.0.1:3310 or unix:/run/clamav/clamd.ctl, with ?timeout= and seconds up to 3600 if needed',
  )
  CLAMD_URL?: string;

  /** Bytes. */
  @SizeInBytes(1) MAX_FILE_SIZE = 50 * 1024 * 1024;

  /** Bytes of a JSON, form or CSV body. */
  @SizeInBytes(1_024) MAX_BODY_SIZE = 10 * 1024 * 1024;

  /** Bytes of a table REST result that is held if it cannot be streamed. A streamed result holds less. */
  @SizeInBytes(2 * 1024 * 1024) MAX_RESULT_SIZE = 64 * 1024 * 1024;

  /** Connections of clients that are open concurrently; further connections are closed. */
  @WholeNumber(1, 1_000_000) MAX_CLIENT_CONNECTIONS = 4_096;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'silent']) LOG_LEVEL = 'info';

  /** Logs each request as one line. */
  @IsIn(['true', 'false']) REQUEST_LOG: 'true' | 'false' = 'false';

  /** Days for which the requests, mails and deliveries of projects are kept; 0: not at all. */
  @WholeNumber(0, 365) HISTORY_DAYS = 7;

  /** Base address of an OpenTelemetry collector (OTLP over HTTP) that gets a span of each request; default: none. */
  @IsOptional() @HttpUrl() OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @WholeNumber(1, 64) WORKERS = 1;

  /** Reverse proxies in front: a number of hops, or a list of addresses and networks; default: none is trusted. */
  @IsOptional() @IsString() TRUST_PROXY?: string;

  /** Seconds that running requests get to finish after SIGTERM. */
  @WholeNumber(0, 3_600) SHUTDOWN_TIMEOUT = 15;

  /** Seconds after SIGTERM in which requests are still accepted, while /health/ready answers 503. */
  @WholeNumber(0, 3_600) SHUTDOWN_DELAY = 0;

  /**
   * Requests per minute from one client address to each of sign-up and the endpoints that mail or take a mailed token. Wrong
   * passwords from one address are delayed after a sixth of this number.
   */
  @WholeNumber(1, 1_000_000) AUTH_REQUESTS_PER_MINUTE = 300;

  /** Hosts, separated by commas, with or without a port, that projects may name although their addresses are private; default: none. */
  @IsOptional()
  @Form(HOST_LIST, 'hosts such as keycloak.internal or 10.0.0.5:8080, separated by commas')
  AUTH_ALLOWED_HOSTS?: string;

  /** Hosts in the same form, for webhooks. */
  @IsOptional()
  @Form(HOST_LIST, 'hosts such as hooks.internal or 10.0.0.5:8080, separated by commas')
  WEBHOOK_ALLOWED_HOSTS?: string;

  /** Seconds in which the receiver of a webhook must have answered. */
  @WholeNumber(1, 60) WEBHOOK_TIMEOUT = 10;

  /** Seconds before the second attempt to send a webhook; each further pause is three times as long. */
  @WholeNumber(1, 3_600) WEBHOOK_RETRY_DELAY = 5;

  /** Range API of Have I Been Pwned, a mirror of it, or a file of hashes, for projects with `refuse_breached_passwords`. */
  @HttpUrlOrFile() BREACHED_PASSWORDS_URL = 'https://api.pwnedpasswords.com/range/';

  /**
   * Seconds without a request after which the session of a staff member at the administration ends. After 21 times as long, it
   * ends in any case.
   */
  @WholeNumber(60, 2_592_000) STAFF_SESSION_IDLE = 28_800;

  /** Quotas of the projects of each plan, as in docs/reference/scaling.md; default: none. */
  @IsOptional() @Quotas() QUOTAS?: string;

  /** JSON: where staff sign in besides passwords (staff-sign-in-config.ts); default: nowhere. */
  @IsOptional() @IsString() STAFF_SIGN_IN?: string;
}
