/**
 * The environment variables of DECISIONS.md 8, with their checks. `.env.example` documents each; a test compares the two.
 */
import { IsEmail, IsIn, IsOptional, IsString, MinLength } from 'class-validator';
import { type Compression, COMPRESSIONS } from './compression';
import {
  DecimalNumber,
  Form,
  HttpUrl,
  Port,
  Quotas,
  Secret,
  ServerUrl,
  SizeInBytes,
  WholeNumber,
} from './env.checks';

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,221}[a-z0-9]$/;
const FOLDER = /^[\w.-]+(\/[\w.-]+)*\/?$/;

export class EnvironmentVariables {
  @Port(1) PORT = 8080;

  @IsString() HOST = '0.0.0.0';

  /** Absolute address under which clients reach Plinth; default: http://localhost:PORT. */
  @IsOptional() @HttpUrl() PUBLIC_URL?: string;

  /** Second port, for metrics and probes without credentials; default: none. */
  @IsOptional() @WholeNumber(1, 65_535) METRICS_PORT?: number;

  /** Address of METRICS_PORT; default: HOST. */
  @IsOptional() @IsString() METRICS_HOST?: string;

  @IsString() @MinLength(1) DATA_DIR = './data';

  @IsOptional() @ServerUrl('postgres', 'postgresql') DATABASE_URL?: string;

  /** TCP port of the embedded PostgreSQL on 127.0.0.1; 0 for any free one. Default: PORT + 10000. */
  @IsOptional() @Port(1_024) EMBEDDED_DATABASE_PORT?: number;

  /** Directory to which the write-ahead log of the embedded PostgreSQL is archived; default: it is not archived. */
  @IsOptional() @IsString() WAL_ARCHIVE_DIR?: string;

  /** Of each process; default: by the machine's memory, or 80 with DATABASE_URL. */
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

  /** Bearer token that reads GET /metrics, beside PLATFORM_ADMIN_KEY; default: none. */
  @IsOptional() @Secret(16) METRICS_TOKEN?: string;

  /** Encrypts the secrets in backups; default: none, the command line takes it from a file. */
  @IsOptional() @Secret(12) BACKUP_PASSPHRASE?: string;

  /** File with the passphrase, read for each backup. */
  @IsOptional() @IsString() BACKUP_PASSPHRASE_FILE?: string;

  /** Compression of scheduled backups; zstd is the faster one, and needs Node.js 22.15 or later. */
  @IsIn([...COMPRESSIONS]) BACKUP_COMPRESSION: Compression = 'gzip';

  /** Extensions that a restore may create, besides those that PostgreSQL trusts. */
  @IsString() RESTORE_EXTENSIONS = 'pg_stat_statements,pgrouting,postgis,postgis_topology,vector';

  /** Where scheduled backups are stored. */
  @IsIn(['disk', 'gcs', 's3']) BACKUP_PROVIDER: 'disk' | 'gcs' | 's3' = 'disk';

  /** Directory of scheduled backups; default: DATA_DIR/backups. */
  @IsOptional() @IsString() BACKUP_DIR?: string;

  /** Bucket of scheduled backups. */
  @IsOptional()
  @Form(BUCKET, 'the name of a bucket: lower-case letters, digits, ".", "-", "_"')
  BACKUP_BUCKET?: string;

  /** Folder in BACKUP_BUCKET. */
  @IsOptional()
  @Form(FOLDER, 'letters, digits, ".", "-", "_", with "/" between folders')
  BACKUP_PREFIX?: string;

  /** The next ones default to their STORAGE_ counterparts where BACKUP_PROVIDER is STORAGE_PROVIDER. */
  @IsOptional() @HttpUrl() BACKUP_ENDPOINT?: string;

  @IsOptional() @IsString() BACKUP_GCS_KEY_FILE?: string;

  @IsOptional() @Form(/^[a-z0-9-]+$/i, 'the name of a region such as us-east-1') BACKUP_S3_REGION?: string;

  @IsOptional() @IsIn(['true', 'false']) BACKUP_S3_PATH_STYLE?: 'true' | 'false';

  @IsOptional() @IsString() BACKUP_S3_ACCESS_KEY_ID?: string;

  @IsOptional() @IsString() BACKUP_S3_SECRET_ACCESS_KEY?: string;

  @IsIn(['disk', 'gcs', 's3']) STORAGE_PROVIDER: 'disk' | 'gcs' | 's3' = 'disk';

  /** Directory of the disk provider; default: DATA_DIR/files. */
  @IsOptional() @IsString() STORAGE_DISK_DIR?: string;

  /** Bucket of the providers gcs and s3. */
  @IsOptional()
  @Form(BUCKET, 'the name of a bucket: lower-case letters, digits, ".", "-", "_"')
  STORAGE_BUCKET?: string;

  /** Folder in the bucket, so that several installs can share it. */
  @IsOptional()
  @Form(FOLDER, 'letters, digits, ".", "-", "_", with "/" between folders')
  STORAGE_PREFIX?: string;

  /** Address of an S3-compatible server, or of an emulator of Google Cloud Storage. */
  @IsOptional() @HttpUrl() STORAGE_ENDPOINT?: string;

  /** Seconds without an answer or progress after which a request to the provider counts as failed. */
  @DecimalNumber(0.1, 3_600) STORAGE_TIMEOUT = 30;

  /** JSON key of a service account, or a configuration of workload identity federation. */
  @IsOptional() @IsString() STORAGE_GCS_KEY_FILE?: string;

  @Form(/^[a-z0-9-]+$/i, 'the name of a region such as us-east-1') STORAGE_S3_REGION = 'us-east-1';

  /** Default: true with STORAGE_ENDPOINT, which most servers of one's own need. */
  @IsOptional() @IsIn(['true', 'false']) STORAGE_S3_PATH_STYLE?: 'true' | 'false';

  @IsOptional() @IsString() STORAGE_S3_ACCESS_KEY_ID?: string;

  @IsOptional() @IsString() STORAGE_S3_SECRET_ACCESS_KEY?: string;

  /** Seconds after which bytes that no file names may be removed. */
  @DecimalNumber(0.1, 2_592_000) STORAGE_ORPHAN_AGE = 3_600;

  /** Location of nginx that has the files: nginx sends them then (X-Accel-Redirect). Default: Plinth sends them. */
  @IsOptional()
  @Form(/^(\/[\w-]+)+\/?$/, 'a path such as /internal-files')
  STORAGE_ACCEL_REDIRECT?: string;

  /** Bytes. */
  @SizeInBytes(1) MAX_FILE_SIZE = 50 * 1024 * 1024;

  /** Bytes of a JSON, form or CSV body. */
  @SizeInBytes(1_024) MAX_BODY_SIZE = 10 * 1024 * 1024;

  /** Bytes of memory that bodies take, all together; default: 384 MiB, or 12 times MAX_BODY_SIZE where that is more. */
  @IsOptional() @SizeInBytes(1_024) MAX_BUFFERED_BODIES?: number;

  /** Bytes of a table REST result that is held, because it cannot be streamed. Less is held of each that is. */
  @SizeInBytes(2 * 1024 * 1024) MAX_RESULT_SIZE = 64 * 1024 * 1024;

  /** Bytes of all such results together; default: 256 MiB, or four times MAX_RESULT_SIZE where that is more. */
  @IsOptional() @SizeInBytes(1_024) MAX_BUFFERED_RESULTS?: number;

  /** Bytes a second that a body or an upload must bring on average. */
  @SizeInBytes(1) MIN_BODY_RATE = 1_024;

  /** Seconds over which that average is taken. */
  @DecimalNumber(0.1, 3_600) BODY_RATE_WINDOW = 30;

  /** Seconds in which a body that is held in memory must be complete. */
  @DecimalNumber(0.1, 86_400) BODY_TIMEOUT = 300;

  /** Connections of clients that are open at once; further ones are closed. */
  @WholeNumber(1, 1_000_000) MAX_CLIENT_CONNECTIONS = 4_096;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'silent']) LOG_LEVEL = 'info';

  /** Logs each request as one line. */
  @IsIn(['true', 'false']) REQUEST_LOG: 'true' | 'false' = 'false';

  /** Base address of an OpenTelemetry collector (OTLP over HTTP) that gets a span of each request; default: none. */
  @IsOptional() @HttpUrl() OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @WholeNumber(1, 64) WORKERS = 1;

  /** Reverse proxies in front: a number of hops, or a list of addresses and networks; default: none is trusted. */
  @IsOptional() @IsString() TRUST_PROXY?: string;

  /** Seconds that running requests get to finish after SIGTERM. */
  @WholeNumber(0, 3_600) SHUTDOWN_TIMEOUT = 15;

  /** Seconds after SIGTERM in which requests are still accepted, while /health/ready answers 503. */
  @WholeNumber(0, 3_600) SHUTDOWN_DELAY = 0;

  @WholeNumber(4, 16) BCRYPT_COST = 10;

  /** Seconds after which a mail that could not be sent is tried again; doubles, for about six hours. */
  @DecimalNumber(0.001, 3_600) MAIL_RETRY_DELAY = 10;

  /** Seconds between two looks for mails that the queue has lost. */
  @DecimalNumber(0.1, 3_600) MAIL_RECOVERY_INTERVAL = 60;

  /** Wrong passwords for one account before each further try has to wait. */
  @WholeNumber(3, 1_000) AUTH_FAILURES_PER_ACCOUNT = 10;

  /** Wrong passwords from one client address before each further try has to wait. */
  @WholeNumber(3, 100_000) AUTH_FAILURES_PER_ADDRESS = 50;

  /** Requests a minute from one client address to each of sign-up and the endpoints that mail or take a mailed token. */
  @WholeNumber(1, 1_000_000) AUTH_REQUESTS_PER_MINUTE = 300;

  /** Reset and verification mails to one address before each further one has to wait. */
  @WholeNumber(1, 1_000) AUTH_MAILS_PER_HOUR = 10;

  /** Seconds without a request after which the session of a person at the administration ends. */
  @WholeNumber(60, 2_592_000) STAFF_SESSION_IDLE = 28_800;

  /** Seconds after which such a session ends in any case. */
  @WholeNumber(60, 31_536_000) STAFF_SESSION_LIFETIME = 604_800;

  /** Quotas of the projects of a plan, as in docs/scaling.md; default: none. */
  @IsOptional() @Quotas() QUOTAS_FREE?: string;

  @IsOptional() @Quotas() QUOTAS_PRO?: string;

  @IsOptional() @Quotas() QUOTAS_ENTERPRISE?: string;

  /** Issuer of single sign-on (OpenID Connect) for people at the administration; default: none. */
  @IsOptional() @HttpUrl() STAFF_OIDC_ISSUER?: string;

  @IsOptional() @IsString() STAFF_OIDC_CLIENT_ID?: string;

  @IsOptional() @IsString() STAFF_OIDC_CLIENT_SECRET?: string;

  @Form(/^openid( [\x21\x23-\x5b\x5d-\x7e]+)*$/, 'scopes separated by spaces, beginning with openid')
  STAFF_OIDC_SCOPES = 'openid email profile';

  /** Claim with the groups of a person: a name, or a path with dots. */
  @IsString() STAFF_OIDC_GROUPS_CLAIM = 'groups';

  /** JSON: the roles that each group gives. */
  @IsOptional() @IsString() STAFF_OIDC_ROLES?: string;

  /** Personal access token of the command line; default: that of `plinth login`, or PLATFORM_ADMIN_KEY. */
  @IsOptional()
  @Form(/^plt_[\w-]{43}$/, 'a personal access token, which begins with plt_')
  PLINTH_TOKEN?: string;
}
