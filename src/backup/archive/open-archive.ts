/** Opens an archive with its passphrase, and verifies one without restoring it. */
import type { Readable } from 'node:stream';
import { isJsonObject } from '../../common/text/json';
import { archiveInvalid } from '../backup.errors';
import { notSupported } from '../../copies/copies.errors';
import {
  ArchivedSecrets,
  ArchiveHeader,
  ArchiveManifest,
  FORMAT,
  HEADER,
  InstallHeader,
  InstallSecrets,
  KeyDerivation,
  SECRETS,
  STORED_FILES,
} from './archive-format';
import {
  assertInstallHeader,
  assertInstallSecrets,
  assertProjectHeader,
  assertProjectSecrets,
} from './archive-checks';
import { digestOf, HEADER_LIMITS, parseMember, SECRETS_LIMITS } from './archived-json';
import { ArchiveEnd, ArchiveMember, ArchiveReader } from './archive-reader';
import { filesIn } from '../stored/file-lines';
import type { StoreOpener } from '../stored/open-stored';
import { PassphraseKey } from './passphrase-key';

export type Members = AsyncGenerator<ArchiveMember, ArchiveEnd, undefined>;

/** An archive whose header and secrets have been read. */
export interface OpenArchive {
  readonly header: ArchiveHeader;
  readonly secrets: ArchivedSecrets;
  readonly key: PassphraseKey;
  readonly members: Members;
  /** Bytes of the header and of the sealed secrets, for a copy of the archive. */
  readonly sealed: { readonly header: Buffer; readonly secrets: Buffer };
}

type AnyHeader = ArchiveHeader | InstallHeader;

export interface VerifiedArchive {
  readonly header: AnyHeader;
  readonly manifest: ArchiveManifest;
  /** True: the bytes of the archive's files are in the store of its destination. */
  readonly isIncremental: boolean;
  /** Files of the store that were read and compared. */
  readonly comparedFiles: number;
}

/** An archive of an install whose header and secrets have been read. */
export interface OpenInstallArchive {
  readonly header: InstallHeader;
  readonly secrets: InstallSecrets;
  readonly key: PassphraseKey;
}

/**
 * Reads header and secrets of a project's archive. The secrets authenticate the header.
 * @throws AppError 400 for another passphrase, or an archive that this version does not know
 */
export async function openArchive(members: Members, passphrase: string): Promise<OpenArchive> {
  const { header, bytes } = await readHeader(members);
  if (isOfInstall(header)) throw notSupported('This is a backup of an install: restore it with --all');
  const { key, secrets, sealed } = await unlock(members, header, bytes, passphrase);
  await assertProjectHeader(header);
  await assertProjectSecrets(secrets);
  return {
    header,
    secrets: secrets as ArchivedSecrets,
    key,
    members,
    sealed: { header: bytes, secrets: sealed },
  };
}

/** Like openArchive(), for the archive of an install. */
export async function openInstallArchive(members: Members, passphrase: string): Promise<OpenInstallArchive> {
  const { header, bytes } = await readHeader(members);
  if (!isOfInstall(header)) throw notSupported('This is a backup of one project: restore it without --all');
  const { key, secrets } = await unlock(members, header, bytes, passphrase);
  await assertInstallHeader(header);
  await assertInstallSecrets(secrets);
  return { header, secrets: secrets as InstallSecrets, key };
}

/**
 * Reads an archive of either kind to its end and compares all checksums.
 * @param passphrase null: does not check who made the archive
 * @param opener for the files of an incremental archive, which need the passphrase; null: they are not read
 * @throws AppError 400 when it is damaged or incomplete
 */
export async function verifyArchive(
  input: Readable,
  passphrase: string | null,
  opener: (() => StoreOpener | null) | null = null,
): Promise<VerifiedArchive> {
  const members = new ArchiveReader(input).members();
  const { header, bytes } = await readHeader(members);
  const opened = passphrase === null ? null : await unlock(members, header, bytes, passphrase);
  const found = { isIncremental: false, comparedFiles: 0 };
  const end = await readToEnd(members, async ({ name, chunks }) => {
    if (name !== STORED_FILES) return;
    found.isIncremental = true;
    const open = opened && opener?.();
    if (open) found.comparedFiles = await compareStored(header, opened.secrets, chunks, open);
  });
  if (opened) assertAuthentic(opened.key, end);
  return { header, manifest: end.manifest, ...found };
}

/** @returns the number of compared files */
async function compareStored(
  header: AnyHeader,
  secrets: unknown,
  lines: AsyncIterable<Buffer>,
  opener: StoreOpener,
): Promise<number> {
  await assertProjectHeader(header);
  await assertProjectSecrets(secrets);
  const open = opener((header as ArchiveHeader).project.id, (secrets as ArchivedSecrets).data_secret);
  let count = 0;
  for await (const file of filesIn(lines)) {
    for await (const _chunk of open(file)) continue;
    count += 1;
  }
  return count;
}

export function isOfInstall(header: AnyHeader): header is InstallHeader {
  return 'kind' in header && header.kind === 'install';
}

/** @param use called with each member */
export async function readToEnd(
  members: Members,
  use: (member: ArchiveMember) => Promise<void>,
): Promise<ArchiveEnd> {
  for (;;) {
    const { value, done } = await members.next();
    if (done) return value;
    await use(value);
  }
}

/** @throws AppError 400 when the manifest was not made with this key */
export function assertAuthentic(key: PassphraseKey, { manifestBytes, mac }: ArchiveEnd): void {
  if (!key.verifies(manifestBytes, mac)) throw archiveInvalid('its manifest was altered');
}

async function readHeader(members: Members): Promise<{ header: AnyHeader; bytes: Buffer }> {
  const bytes = await next(members, HEADER, HEADER_LIMITS.bytes);
  const header = await parseHeader<AnyHeader>(bytes);
  if (header.format !== FORMAT)
    throw notSupported(`Format ${String(header.format)} of the backup is not supported`);
  return { header, bytes };
}

/**
 * The header before the passphrase has authenticated it: only its format and its key may be used.
 * @throws AppError 400
 */
export async function parseHeader<T extends { readonly key: KeyDerivation }>(bytes: Buffer): Promise<T> {
  const header = await parseMember(HEADER, bytes, HEADER_LIMITS);
  if (!isJsonObject(header) || !isJsonObject(header.key)) throw archiveInvalid(`${HEADER} cannot be read`);
  return header as unknown as T;
}

async function unlock(
  members: Members,
  header: AnyHeader,
  bytes: Buffer,
  passphrase: string,
): Promise<{ key: PassphraseKey; secrets: unknown; sealed: Buffer }> {
  const key = await PassphraseKey.derive(passphrase, header.key);
  const context = await digestOf(bytes);
  const sealed = await next(members, SECRETS, SECRETS_LIMITS.bytes);
  return { key, secrets: await parseMember(SECRETS, key.open(sealed, context), SECRETS_LIMITS), sealed };
}

async function next(members: Members, name: string, limit: number): Promise<Buffer> {
  const { value, done } = await members.next();
  if (done || value.name !== name) throw archiveInvalid(`${name} is missing`);
  return ArchiveReader.hold(value.chunks, limit);
}
