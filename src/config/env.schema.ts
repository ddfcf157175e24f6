/**
 * The environment variables of DECISIONS.md 8, with their checks. `.env.example` documents each; a test compares the two.
 */
import { Transform } from 'class-transformer';
import {
  IsEmail,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  Min,
  MinLength,
} from 'class-validator';

/** `50MB`, `50 MiB`, `1048576`: a size in bytes; binary multiples, as file systems count. */
function toBytes({ value }: { value: unknown }): unknown {
  const match = /^(\d+)\s*(?:([KMGT])i?B?)?$/i.exec(String(value).trim());
  if (!match) return value;
  const power = match[2] ? 'KMGT'.indexOf(match[2].toUpperCase()) + 1 : 0;
  return Number(match[1]) * 1024 ** power;
}

const toNumber = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' && value.trim() !== '' ? Number(value) : value;

const ANY_URL = { require_tld: false, require_protocol: true };

export class EnvironmentVariables {
  @Transform(toNumber) @IsInt() @Min(0) @Max(65_535) PORT = 8080;

  @IsString() HOST = '0.0.0.0';

  /** Absolute address under which clients reach Plinth; default: http://localhost:PORT. */
  @IsOptional() @IsUrl({ ...ANY_URL, protocols: ['http', 'https'] }) PUBLIC_URL?: string;

  /** Second port, for metrics and probes without credentials; default: none. */
  @IsOptional() @Transform(toNumber) @IsInt() @Min(1) @Max(65_535) METRICS_PORT?: number;

  /** Address of METRICS_PORT; default: HOST. */
  @IsOptional() @IsString() METRICS_HOST?: string;

  @IsString() @MinLength(1) DATA_DIR = './data';

  @IsOptional()
  @Matches(/^postgres(ql)?:\/\//, { message: 'DATABASE_URL must begin with postgres://' })
  DATABASE_URL?: string;

  @Transform(toNumber) @IsInt() @Min(4) @Max(10_000) DATABASE_MAX_CONNECTIONS = 80;

  @Transform(toNumber) @IsInt() @Min(1) @Max(1_000) DATABASE_PROJECT_CONNECTIONS = 12;

  @IsOptional()
  @Matches(/^rediss?:\/\//, { message: 'REDIS_URL must begin with redis:// or rediss://' })
  REDIS_URL?: string;

  @IsOptional()
  @Matches(/^smtps?:\/\//, { message: 'SMTP_URL must begin with smtp:// or smtps://' })
  SMTP_URL?: string;

  @IsEmail({ allow_display_name: true, require_tld: false }) MAIL_FROM = 'Plinth <plinth@localhost>';

  // A bearer token has no other characters (RFC 6750, 2.1).
  @IsOptional()
  @MinLength(24)
  @Matches(/^[\w.~+/=-]+$/, {
    message: 'PLATFORM_ADMIN_KEY must consist of letters, digits and - . _ ~ + / =',
  })
  PLATFORM_ADMIN_KEY?: string;

  @IsOptional() @MinLength(32) MASTER_KEY?: string;

  /** Bearer token that reads GET /metrics, beside PLATFORM_ADMIN_KEY; default: none. */
  @IsOptional() @MinLength(16) METRICS_TOKEN?: string;

  @IsIn(['disk', 'gcs', 's3']) STORAGE_PROVIDER: 'disk' | 'gcs' | 's3' = 'disk';

  /** Directory of the disk provider; default: DATA_DIR/files. */
  @IsOptional() @IsString() STORAGE_DISK_DIR?: string;

  /** Bucket of the providers gcs and s3. */
  @IsOptional()
  @Matches(/^[a-z0-9][a-z0-9._-]{1,221}[a-z0-9]$/, { message: 'STORAGE_BUCKET is no valid bucket name' })
  STORAGE_BUCKET?: string;

  /** Folder in the bucket, so that several installs can share it. */
  @IsOptional()
  @Matches(/^[\w.-]+(\/[\w.-]+)*\/?$/, {
    message: 'STORAGE_PREFIX must be letters, digits, ".", "-", "_", with "/" between folders',
  })
  STORAGE_PREFIX?: string;

  /** Address of an S3-compatible server, or of an emulator of Google Cloud Storage. */
  @IsOptional() @IsUrl({ ...ANY_URL, protocols: ['http', 'https'] }) STORAGE_ENDPOINT?: string;

  /** Seconds without an answer or progress after which a request to the provider counts as failed. */
  @Transform(toNumber) @IsNumber() @Min(0.1) @Max(3_600) STORAGE_TIMEOUT = 30;

  /** JSON key of a service account, or a configuration of workload identity federation. */
  @IsOptional() @IsString() STORAGE_GCS_KEY_FILE?: string;

  @IsString() @Matches(/^[a-z0-9-]+$/i) STORAGE_S3_REGION = 'us-east-1';

  /** Default: true with STORAGE_ENDPOINT, which most servers of one's own need. */
  @IsOptional() @IsIn(['true', 'false']) STORAGE_S3_PATH_STYLE?: 'true' | 'false';

  @IsOptional() @IsString() STORAGE_S3_ACCESS_KEY_ID?: string;

  @IsOptional() @IsString() STORAGE_S3_SECRET_ACCESS_KEY?: string;

  /** Seconds after which bytes that no file names may be removed. */
  @Transform(toNumber) @IsNumber() @Min(0.1) @Max(2_592_000) STORAGE_ORPHAN_AGE = 3_600;

  /** Location of nginx that has the files: nginx sends them then (X-Accel-Redirect). Default: Plinth sends them. */
  @IsOptional()
  @Matches(/^(\/[\w-]+)+\/?$/, { message: 'STORAGE_ACCEL_REDIRECT must be a path such as /internal-files' })
  STORAGE_ACCEL_REDIRECT?: string;

  /** Bytes. */
  @Transform(toBytes) @IsInt() @Min(1) MAX_FILE_SIZE = 50 * 1024 * 1024;

  /** Bytes of a JSON, form or CSV body. */
  @Transform(toBytes) @IsInt() @Min(1_024) MAX_BODY_SIZE = 10 * 1024 * 1024;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'silent']) LOG_LEVEL = 'info';

  @Transform(toNumber) @IsInt() @Min(1) @Max(64) WORKERS = 1;

  /** Reverse proxies in front: a number of hops, or a list of addresses and networks; default: none is trusted. */
  @IsOptional() @IsString() TRUST_PROXY?: string;

  /** Seconds that running requests get to finish after SIGTERM. */
  @Transform(toNumber) @IsInt() @Min(0) @Max(3_600) SHUTDOWN_TIMEOUT = 15;

  @Transform(toNumber) @IsInt() @Min(4) @Max(16) BCRYPT_COST = 10;

  /** Seconds after which a mail that could not be sent is tried again; doubles, for about six hours. */
  @Transform(toNumber) @IsNumber() @Min(0.001) @Max(3_600) MAIL_RETRY_DELAY = 10;

  /** Seconds between two looks for mails that the queue has lost. */
  @Transform(toNumber) @IsNumber() @Min(0.1) @Max(3_600) MAIL_RECOVERY_INTERVAL = 60;

  /** Wrong passwords for one account before each further try has to wait. */
  @Transform(toNumber) @IsInt() @Min(3) @Max(1_000) AUTH_FAILURES_PER_ACCOUNT = 10;

  /** Wrong passwords from one client address before each further try has to wait. */
  @Transform(toNumber) @IsInt() @Min(3) @Max(100_000) AUTH_FAILURES_PER_ADDRESS = 50;

  /** Requests a minute from one client address to each of sign-up and the endpoints that mail or take a mailed token. */
  @Transform(toNumber) @IsInt() @Min(1) @Max(1_000_000) AUTH_REQUESTS_PER_MINUTE = 300;

  /** Reset and verification mails to one address before each further one has to wait. */
  @Transform(toNumber) @IsInt() @Min(1) @Max(1_000) AUTH_MAILS_PER_HOUR = 10;
}
