/** Reads files that an incremental archive names from the store next to it. */
import { createHash } from 'node:crypto';
import { copies } from '../../storage/providers/object-copies';
import { ObjectMissingError, type ObjectStore } from '../../storage/providers/object-store';
import { decrypted } from '../archive/age';
import { archiveInvalid, storedFileMissing } from '../backup.errors';
import { addressOf, type StoredFile, StoreKeys } from './file-lines';

/** Opens the content of a file, and compares it with its digest. */
export type OpenStored = (file: StoredFile) => AsyncGenerator<Buffer, void, undefined>;

/**
 * @param projectId the project of an archive
 * @param dataSecret the data secret in the archive: it opens no file of another project
 */
export type StoreOpener = (projectId: string, dataSecret: string) => OpenStored;

/** Where incremental archives and their files are. */
export interface StoreSource {
  readonly name: string;
  /** The file with the keys that open encrypted files. */
  readonly identityFile: string | null;
  store(): Promise<ObjectStore>;
}

export function storeOpener(source: StoreSource): StoreOpener {
  return (projectId, dataSecret) => {
    const keys = new StoreKeys(dataSecret);
    return (file) => open(source, projectId, keys, file);
  };
}

/** @throws AppError 400 for a file that is missing, altered, or encrypted and no identity opens it */
async function* open(
  source: StoreSource,
  projectId: string,
  keys: StoreKeys,
  file: StoredFile,
): AsyncGenerator<Buffer, void, undefined> {
  const { objectId, size, sha256, storedSize } = file;
  const address = addressOf(projectId, 'files', keys.nameOf(file));
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const content = copies((await source.store()).readWhole(address, storedSize));
    for await (const chunk of decrypted(content, source.identityFile)) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ObjectMissingError ? storedFileMissing(objectId, source.name) : error;
  }
  if (bytes !== size || hash.digest('hex') !== sha256)
    throw archiveInvalid(`the stored file ${objectId} differs from its checksum`);
}
