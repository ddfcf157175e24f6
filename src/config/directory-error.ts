/** A directory of the configuration that cannot be used. */
import { isSystemError } from '../common/errors/error-facts';

/** Clearer than Node's messages, which report "file already exists" for a file in place of a directory. */
const REASONS: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} is not a directory`,
  ENOTDIR: (path) => `${path} is not a directory`,
  ENOSPC: (path) => `the disk is full (ENOSPC): ${path}`,
};

type DirectorySetting = 'DATA_DIR' | 'STORAGE_URL' | 'BACKUP_URL' | 'FILE_ARCHIVE_URL';

export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';

  /** @param setting the variable that names the directory */
  constructor(setting: DirectorySetting, reason: string, cause?: unknown) {
    super(`${setting} cannot be used: ${reason}`, { cause });
  }
}

/** Converts an error of the file system to a DirectoryError; returns any other as it is. @param directory absolute */
export function directoryFault(setting: DirectorySetting, directory: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  const { code = '', path = directory, message } = error;
  return new DirectoryError(setting, REASONS[code]?.(path) ?? message, error);
}
