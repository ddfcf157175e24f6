/** The configuration as the rest of Plinth sees it: frozen, typed, in small pieces. Parsed once (load-config.ts). */
import type { JsonObject } from '../common/text/json';
import type { Compression } from './compression';
import type { LdapSetting } from './ldap-setting';
import type { PlanQuotasConfig } from './plan-quotas';

export interface ServerConfig {
  readonly port: number;
  readonly host: string;
  /** Without a trailing slash. Links in mails and signed addresses begin with it, never with a request's Host. */
  readonly publicUrl: string;
  readonly workers: number;
  readonly shutdownTimeoutMs: number;
  /** Milliseconds in which a stopping process still accepts requests. */
  readonly shutdownDelayMs: number;
  /** As Express's `trust proxy`: hops, or addresses; false trusts none. */
  readonly trustProxy: number | string | false;
  readonly maxBodyBytes: number;
  /** Where metrics and probes are served without credentials; null: nowhere. */
  readonly metrics: { readonly port: number; readonly host: string } | null;
  /** Where the S3 protocol is served at the root, and its host name; null: nowhere. */
  readonly s3: { readonly port: number; readonly host: string } | null;
  readonly s3Host: string | null;
  /** Log each request as its own line. */
  readonly requestLog: boolean;
  /** Days for which requests, mails and deliveries are kept, and bytes of each project; 0 days: not at all. */
  readonly historyDays: number;
  readonly historyBytes: number;
  /** Base address of the OpenTelemetry collector that gets a span of each request; null: none. */
  readonly traceEndpoint: string | null;
  /** Bytes of memory that request bodies may take, all together. */
  readonly maxBufferedBytes: number;
  /** Bytes of memory that PostgreSQL may take for the bodies of statements; Infinity: it has another machine. */
  readonly maxStatementBytes: number;
  /** Bytes of one table REST result that is held in memory, and of all of them together. */
  readonly maxResultBytes: number;
  readonly maxBufferedResultBytes: number;
  /** Minimum rate of a body: bytes a second, on average over each window of milliseconds. */
  readonly minBodyRate: number;
  readonly bodyRateWindowMs: number;
  /** Milliseconds for the whole of a body that is held in memory. */
  readonly bodyTimeoutMs: number;
  /** Connections of clients that are open concurrently. */
  readonly maxClientConnections: number;
  /** The write-ahead log that is kept for subscribers of changes that return: milliseconds, and bytes for each project. */
  readonly changeLogMs: number;
  readonly changeLogBytes: number;
}

export interface DatabaseConfig {
  /** Absent: embedded PostgreSQL in the data directory. */
  readonly url: string | null;
  /** TCP port of the embedded PostgreSQL; 0: any free one. */
  readonly embeddedPort: number;
  /** Absolute; null: its write-ahead log is not archived. */
  readonly walArchiveDir: string | null;
  readonly maxConnections: number;
  readonly projectConnections: number;
}

export interface MailConfig {
  /** Absent: mails are written to `mail/` in the data directory. */
  readonly smtpUrl: string | null;
  readonly from: string;
  /** Absolute. */
  readonly outboxDir: string;
  /** Milliseconds after which a mail that could not be sent is tried again; each further time doubles it. */
  readonly retryDelayMs: number;
  /** Milliseconds between two searches for mails that have lost their job. */
  readonly recoveryIntervalMs: number;
}

export interface SecretsConfig {
  readonly platformAdminKey: string;
  readonly masterKey: string;
  /** Decrypts secrets that are not encrypted under masterKey yet; null: none. */
  readonly otherMasterKey: string | null;
  /** Token for the metrics, in addition to the admin key; null: none. */
  readonly metricsToken: string | null;
}

/** Settings of all providers that are reached over HTTP. */
export interface RemoteStoreConfig {
  readonly bucket: string;
  /** Prefix of every object's name: empty, or with a slash at its end. */
  readonly prefix: string;
  /** Absent: the provider's own. */
  readonly endpoint: string | null;
  /** Milliseconds without an answer, or without progress, after which a request counts as failed. */
  readonly timeoutMs: number;
}

export interface GcsConfig extends RemoteStoreConfig {
  /** Key of a service account, or of workload identity; absent: ambient credentials, or none for an emulator. */
  readonly keyFile: string | null;
}

export interface S3Config extends RemoteStoreConfig {
  readonly region: string;
  /** `endpoint/bucket/name` instead of `bucket.endpoint/name`. */
  readonly pathStyle: boolean;
  /** Absent: ambient credentials. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/** A virus scanner. */
export interface ClamdConfig {
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
  /** Milliseconds for scanning a file, with the time that the file waits for its turn. */
  readonly timeoutMs: number;
}

export interface StorageConfig {
  readonly provider: 'disk' | 'gcs' | 's3';
  /** Absolute. */
  readonly diskDir: string;
  /** The setting that names the store. */
  readonly diskSetting: 'STORAGE_URL' | 'BACKUP_URL' | 'FILE_ARCHIVE_URL';
  /** Null unless it is the provider. */
  readonly gcs: GcsConfig | null;
  /** Null unless it is the provider. */
  readonly s3: S3Config | null;
  /** Bytes; a bucket may set less. */
  readonly maxFileBytes: number;
  /** Milliseconds after which bytes without a file belong to no running upload, and may be removed. */
  readonly orphanAgeMs: number;
  /** Where each file on disk is copied when it is stored; null: nowhere. */
  readonly archive: StorageConfig | null;
  /** Reads each upload before it becomes visible; null: none. */
  readonly clamd: ClamdConfig | null;
  /** Location under which nginx serves the provider's directory; null: Plinth sends the bytes itself. */
  readonly accelRedirect: string | null;
}

/** Scheduled backups. */
export interface BackupConfig {
  /** Null if BACKUP_PASSPHRASE is not set. */
  readonly passphrase: string | null;
  /** Public keys of age for which backups are encrypted as a whole; none: they are not. */
  readonly recipients: readonly string[];
  /** File with the private keys that open them, for rehearsals; null: none. */
  readonly identityFile: string | null;
  /** Compression of scheduled backups. */
  readonly compression: Compression;
  /** Scheduled archives of projects refer to files in a store next to them. */
  readonly incremental: boolean;
  /** Extensions that a restore creates, in addition to trusted extensions. */
  readonly restoredExtensions: readonly string[];
  /** Where the archives are stored. */
  readonly destination: StorageConfig;
}

export interface PasswordConfig {
  /** bcrypt's cost: 2^cost rounds. */
  readonly bcryptCost: number;
}

/** Limits on guessing and flooding (docs/reference/auth.md). */
export interface AuthConfig {
  /** Wrong passwords for one account that cause no delay. After these, each wrong password makes the next attempt wait longer. */
  readonly failuresPerAccount: number;
  /** As failuresPerAccount, for one client address over all accounts. */
  readonly failuresPerAddress: number;
  /** Requests a minute from one client address to each of sign-up and the endpoints around mails. */
  readonly requestsPerMinute: number;
  /** Mails to one address that anybody may request without a delay. After these, each further mail has to wait. */
  readonly mailsPerHour: number;
  /** Hosts that may have private addresses and plain HTTP: `host` or `host:port`. */
  readonly allowedHosts: readonly string[];
  /** Address of the range API of breached passwords. */
  readonly breachedPasswordsUrl: string;
}

export interface WebhookConfig {
  /** See AuthConfig. */
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  /** Milliseconds before the second attempt. */
  readonly retryDelayMs: number;
}

/** Limits of the sessions of staff who administer the installation (docs/reference/staff.md). */
export interface StaffConfig {
  /** Milliseconds without a request after which a session ends. */
  readonly sessionIdleMs: number;
  /** Milliseconds after which a session ends in any case. */
  readonly sessionLifetimeMs: number;
  /** Null: staff sign in with passwords and passkeys only. */
  readonly oidc: OidcConfig | null;
  readonly saml: StaffSamlConfig | null;
  readonly ldap: StaffLdapConfig | null;
}

/** Roles that a group at the issuer gives. */
export interface GroupRoles {
  readonly role: 'owner' | 'operator' | 'auditor' | null;
  /** Keyed by the slug of the project. */
  readonly projects: Readonly<Record<string, 'admin' | 'developer' | 'viewer'>>;
}

/** Single sign-on of staff by OpenID Connect. */
export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE protects. */
  readonly clientSecret: string | null;
  /** Separated by spaces. */
  readonly scopes: string;
  /** Name of the claim with the groups, or a path with dots. */
  readonly groupsClaim: string;
  /** Keyed by the name of the group. */
  readonly roles: Readonly<Record<string, GroupRoles>>;
}

/** Sign-in of staff by SAML 2.0. */
export interface StaffSamlConfig {
  /** Metadata of the identity provider: an address, or the absolute path of a file. */
  readonly metadata: string;
  /** Domains whose addresses the provider proves. */
  readonly domains: readonly string[];
  /** Like GoTrue's `attribute_mapping`. */
  readonly mapping: JsonObject | null;
  readonly roles: OidcConfig['roles'];
}

/** Sign-in of staff with the passwords of a directory. */
export interface StaffLdapConfig {
  readonly setting: LdapSetting;
  readonly bindPassword: string;
  readonly roles: OidcConfig['roles'];
}

/** Space on the disks of this machine, in bytes. */
interface DiskConfig {
  /** Bytes that are kept free; 0: none. */
  readonly reserveBytes: number;
  /** Size of the file that is removed when PostgreSQL has no space; 0: none. */
  readonly ballastBytes: number;
  /** Limit for the files of all projects; null: no limit. */
  readonly filesLimitBytes: number | null;
}

export interface AppConfig {
  readonly server: ServerConfig;
  /** Absolute. */
  readonly dataDir: string;
  readonly database: DatabaseConfig;
  readonly disk: DiskConfig;
  /** Null: single-node mode. */
  readonly redisUrl: string | null;
  readonly mail: MailConfig;
  readonly secrets: SecretsConfig;
  readonly storage: StorageConfig;
  readonly backups: BackupConfig;
  readonly passwords: PasswordConfig;
  readonly auth: AuthConfig;
  readonly webhooks: WebhookConfig;
  readonly staff: StaffConfig;
  readonly planQuotas: PlanQuotasConfig;
  readonly logLevel: string;
}

/** Injection token of the whole; the pieces have their own below. */
export const APP_CONFIG = Symbol('APP_CONFIG');
export const SERVER_CONFIG = Symbol('SERVER_CONFIG');
export const DATABASE_CONFIG = Symbol('DATABASE_CONFIG');
export const MAIL_CONFIG = Symbol('MAIL_CONFIG');
export const SECRETS_CONFIG = Symbol('SECRETS_CONFIG');
export const STORAGE_CONFIG = Symbol('STORAGE_CONFIG');
export const PASSWORD_CONFIG = Symbol('PASSWORD_CONFIG');
export const AUTH_CONFIG = Symbol('AUTH_CONFIG');
export const WEBHOOK_CONFIG = Symbol('WEBHOOK_CONFIG');
export const STAFF_CONFIG = Symbol('STAFF_CONFIG');
export const PLAN_QUOTAS = Symbol('PLAN_QUOTAS');
export const BACKUP_CONFIG = Symbol('BACKUP_CONFIG');
