/** The members of an archive, and the types of the JSON members (docs/guides/backup.md). */
import type {
  ArchivedDatabaseSetting,
  ArchivedExtension,
  ArchivedSequence,
  ArchivedTable,
} from '../../copies/archived-objects';
import type { ArchivedRoles } from '../../copies/owner-roles';
import type { StoredSigningKey } from '../../projects/signing-keys';

export const FORMAT = 1;

/** Facts about the archive and its project, the first member. */
export const HEADER = 'header.json';
/** Settings, keys and passwords, encrypted under the passphrase. */
export const SECRETS = 'secrets.sealed';
export const PRE_DATA = 'schema/pre-data.sql';
export const POST_DATA = 'schema/post-data.sql';
export const LARGE_OBJECTS = 'large-objects.sql';
/** The members that have the schema. */
export const ARCHIVED_SCHEMA: readonly string[] = [PRE_DATA, POST_DATA];
export const MANIFEST = 'manifest.json';
/** HMAC-SHA-256 of the manifest under a key of the passphrase, in hexadecimal. The last member. */
export const MANIFEST_MAC = 'manifest.hmac';

/** The audit log of an install in COPY's text format. */
export const AUDIT_LOG = 'platform/audit_log.copy';
/** Archives of the projects of an install. */
export const PROJECTS_FOLDER = 'projects/';

export const FILES_FOLDER = 'files/';
/** In place of files: their digests. Their bytes are in the store next to the archive. */
export const STORED_FILES = 'stored-files';
export const SUMS_FOLDER = 'sums/';

/** Members after which their checksums follow, so that neither side holds the checksums of all members. */
export const MEMBERS_PER_SUMS = 10_000;

/** Bytes at which a member of unknown length continues in a further member. */
export const PART_BYTES = 4 * 1024 * 1024;
const PART = /\.part\d{6}$/;

/** `data/0001.copy`, `data/0001.copy.part000002`: a wildcard lists them in this order. @param index from 0 */
export function partName(name: string, index: number): string {
  return index === 0 ? name : `${name}.part${String(index + 1).padStart(6, '0')}`;
}

/** The name of the member that a part belongs to. */
export function wholeName(name: string): string {
  return name.replace(PART, '');
}

export const sumsName = (index: number): string => `${SUMS_FOLDER}${String(index).padStart(6, '0')}`;

/** Parameters of scrypt (RFC 7914), and its salt in base64. */
export interface KeyDerivation {
  readonly kdf: 'scrypt';
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
}

export interface ArchiveHeader {
  readonly format: number;
  /** Version of Plinth. */
  readonly plinth: string;
  /** Version of the PostgreSQL server, as in server_version_num. */
  readonly postgres: number;
  readonly created_at: string;
  readonly project: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly plan: string;
    readonly created_at: string;
    readonly schema_version: string;
    readonly owner_role: string;
    readonly login_role: string;
  };
  readonly extensions: readonly ArchivedExtension[];
  readonly tables: readonly ArchivedTable[];
  readonly sequences: readonly ArchivedSequence[];
  readonly key: KeyDerivation;
}

/** The first member of the archive of an install. */
export interface InstallHeader {
  readonly format: number;
  readonly kind: 'install';
  /** Version of Plinth. */
  readonly plinth: string;
  readonly created_at: string;
  readonly projects: readonly { readonly id: string; readonly slug: string; readonly member: string }[];
  readonly key: KeyDerivation;
}

/** The content of SECRETS in the archive of an install. It always exists, because it authenticates the header. */
export interface InstallSecrets {
  readonly schedules: readonly ArchivedSchedule[];
  /** Absent in archives of earlier versions. */
  readonly servers?: readonly ArchivedServer[];
}

/** A server for projects' databases. The URL has a password. */
export interface ArchivedServer {
  readonly name: string;
  readonly url: string;
  readonly capacity: number;
}

export interface ArchivedSchedule {
  /** Null for the schedule of the install. */
  readonly project_id: string | null;
  readonly cron: string;
  readonly time_zone: string;
  readonly keep: number;
  readonly enabled: boolean;
  /** Absent unless it is true. */
  readonly physical?: boolean;
  /** Absent in archives of earlier versions. */
  readonly rehearse_days?: number | null;
}

/** Times are in milliseconds since the epoch. */
export interface ArchivedSecret {
  readonly kid: string;
  readonly secret: string;
  readonly storage_secret: string;
  readonly created_at: number;
  readonly expires_at: number | null;
}

/** The content of SECRETS. */
export interface ArchivedSecrets {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly owner_password: string;
  readonly data_secret: string;
  readonly secrets: readonly ArchivedSecret[];
  /** Key pairs that sign users' tokens. Absent in archives of earlier versions. */
  readonly signing_keys?: readonly StoredSigningKey[];
  /** Absent in archives of earlier versions. */
  readonly database_settings?: readonly ArchivedDatabaseSetting[];
  /** With hashed passwords. Absent in archives of earlier versions. */
  readonly roles?: ArchivedRoles;
}

export interface ArchiveManifest {
  readonly format: number;
  /** Members before this one, without the lists of checksums. */
  readonly members: number;
  /** SHA-256 of each list of checksums, in order. */
  readonly sums: readonly string[];
  /** Number of rows by member. */
  readonly rows: Readonly<Record<string, number>>;
  readonly files: {
    readonly count: number;
    readonly bytes: number;
    /** Files of the snapshot whose bytes the provider no longer had. */
    readonly missing: number;
  };
  /** In the archive of an install: projects that could not be archived. Their members are absent or incomplete. */
  readonly failed?: readonly FailedProject[];
}

export interface FailedProject {
  readonly id: string;
  readonly slug: string;
  readonly reason: string;
}
