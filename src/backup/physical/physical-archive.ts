/** The archive of a whole install: its members in addition to those of every archive (docs/guides/backup.md). */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ArchiveManifest, HEADER, KeyDerivation, SECRETS } from '../archive/archive-format';
import { ArchiveMember, ArchiveReader } from '../archive/archive-reader';
import { assertAuthentic, Members, parseHeader, readToEnd } from '../archive/open-archive';
import { PassphraseKey } from '../archive/passphrase-key';
import { archiveInvalid } from '../backup.errors';
import { notSupported } from '../../copies/copies.errors';

/** Differs from the number of a project's archive, so that neither is taken for the other. */
export const PHYSICAL_FORMAT = 'physical-1';
/** A tar file of the cluster's directory, as PostgreSQL sent it. */
export const CLUSTER = 'postgres/base.tar';
/** PostgreSQL's list of the files in it, for pg_verifybackup. */
export const CLUSTER_MANIFEST = 'postgres/backup_manifest';

export interface PhysicalHeader {
  readonly format: typeof PHYSICAL_FORMAT;
  /** Version of Plinth. */
  readonly plinth: string;
  /** Version of the PostgreSQL server, as in server_version_num. */
  readonly postgres: number;
  /** Operating system and processor, as in `linux-x64`: the files of a cluster depend on both. */
  readonly platform: string;
  readonly created_at: string;
  /** Identifies the cluster; also the folder in the archive of its write-ahead log. */
  readonly system_id: string;
  readonly timeline: number;
  /** Oldest file of the write-ahead log that a restore needs. */
  readonly first_wal_file: string;
  /** False: the bytes of files are elsewhere, or were left out. */
  readonly has_files: boolean;
  readonly key: KeyDerivation;
}

/** The content of SECRETS. */
export interface PhysicalSecrets {
  readonly master_key: string;
  /** Set while secrets are re-encrypted; absent in archives of earlier versions. */
  readonly master_key_other?: string | null;
  readonly platform_admin_key: string;
  /** Password of the superuser. */
  readonly postgres_password: string;
}

export interface OpenPhysicalArchive {
  readonly header: PhysicalHeader;
  readonly secrets: PhysicalSecrets;
  readonly key: PassphraseKey;
  readonly members: Members;
}

/**
 * Reads header and secrets. The secrets authenticate the header.
 * @throws AppError 400 for another passphrase, or another kind of file
 */
export async function openPhysicalArchive(input: Readable, passphrase: string): Promise<OpenPhysicalArchive> {
  const members = new ArchiveReader(input).members();
  const bytes = await read(members, HEADER);
  const header = await parseHeader<PhysicalHeader>(bytes);
  if (header.format !== PHYSICAL_FORMAT)
    throw notSupported('It is not a physical backup: restore a project without --physical and --until');
  const key = await PassphraseKey.derive(passphrase, header.key);
  const context = createHash('sha256').update(bytes).digest();
  const secrets = JSON.parse(key.open(await read(members, SECRETS), context).toString()) as PhysicalSecrets;
  return { header, secrets, key, members };
}

/**
 * Reads the rest of an archive and verifies all of it.
 * @param use called with each member
 * @throws AppError 400 when it is damaged, incomplete or altered
 */
export async function readVerified(
  { members, key }: OpenPhysicalArchive,
  use: (member: ArchiveMember) => Promise<void>,
): Promise<ArchiveManifest> {
  const end = await readToEnd(members, use);
  assertAuthentic(key, end);
  return end.manifest;
}

async function read(members: Members, name: string): Promise<Buffer> {
  const { value, done } = await members.next();
  if (done || value.name !== name) throw archiveInvalid(`${name} is missing`);
  return ArchiveReader.hold(value.chunks);
}
