/** A directory of the configuration that cannot be used; the message is one clear line. */

/** What Node's own message would not tell: it calls a file in the place of a directory "file already exists". */
const REASONS: Readonly<Record<string, (path: string) => string>> = {
  EEXIST: (path) => `${path} is not a directory`,
  ENOTDIR: (path) => `${path} is not a directory`,
  ENOSPC: (path) => `the disk is full (ENOSPC): ${path}`,
};

export class DirectoryError extends Error {
  override readonly name = 'DirectoryError';

  /** @param setting the variable that names the directory */
  constructor(setting: 'DATA_DIR' | 'STORAGE_DISK_DIR', reason: string, cause?: unknown) {
    super(`${setting} cannot be used: ${reason}`, { cause });
  }
}

/** What the file system said as a DirectoryError; anything else as it is. @param directory absolute */
export function directoryFault(
  setting: 'DATA_DIR' | 'STORAGE_DISK_DIR',
  directory: string,
  error: unknown,
): unknown {
  const { syscall, code = '', path = directory, message } = error as NodeJS.ErrnoException;
  if (typeof syscall !== 'string') return error;
  return new DirectoryError(setting, REASONS[code]?.(path) ?? message, error);
}
