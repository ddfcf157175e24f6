/** Opens an archive with its passphrase, and verifies one without restoring it. */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { archiveInvalid, notSupported } from '../backup.errors';
import { ArchivedSecrets, ArchiveHeader, ArchiveManifest, FORMAT, HEADER, SECRETS } from './archive-format';
import { ArchiveEnd, ArchiveMember, ArchiveReader } from './archive-reader';
import { PassphraseKey } from './passphrase-key';

export type Members = AsyncGenerator<ArchiveMember, ArchiveEnd, undefined>;

/** An archive whose header and secrets have been read. */
export interface OpenArchive {
  readonly header: ArchiveHeader;
  readonly secrets: ArchivedSecrets;
  readonly key: PassphraseKey;
  readonly members: Members;
}

export interface VerifiedArchive {
  readonly header: ArchiveHeader;
  readonly manifest: ArchiveManifest;
}

/**
 * Reads header and secrets. The secrets authenticate the header.
 * @throws AppError 400 for another passphrase, or an archive that this version does not know
 */
export async function openArchive(members: Members, passphrase: string): Promise<OpenArchive> {
  const { header, bytes } = await readHeader(members);
  const key = await PassphraseKey.derive(passphrase, header.key);
  const context = createHash('sha256').update(bytes).digest();
  const secrets = JSON.parse(key.open(await next(members, SECRETS), context)) as ArchivedSecrets;
  return { header, secrets, key, members };
}

/**
 * Reads an archive to its end and compares all checksums.
 * @param passphrase null: does not check who made the archive
 * @throws AppError 400 when it is damaged or incomplete
 */
export async function verifyArchive(input: Readable, passphrase: string | null): Promise<VerifiedArchive> {
  const members = new ArchiveReader(input).members();
  if (passphrase === null) {
    const { header } = await readHeader(members);
    return { header, manifest: (await readToEnd(members, async () => undefined)).manifest };
  }
  const { header, key } = await openArchive(members, passphrase);
  const end = await readToEnd(members, async () => undefined);
  assertAuthentic(key, end);
  return { header, manifest: end.manifest };
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

async function readHeader(members: Members): Promise<{ header: ArchiveHeader; bytes: Buffer }> {
  const bytes = await next(members, HEADER);
  const header = JSON.parse(bytes.toString('utf8')) as ArchiveHeader;
  if (header.format !== FORMAT)
    throw notSupported(`Format ${String(header.format)} of the backup is not supported`);
  return { header, bytes };
}

async function next(members: Members, name: string): Promise<Buffer> {
  const { value, done } = await members.next();
  if (done || value.name !== name) throw archiveInvalid(`${name} is missing`);
  return ArchiveReader.hold(value.chunks);
}
