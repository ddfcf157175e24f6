/** A secret in the data directory, generated at the first start. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { directoryFault, DirectoryError } from './directory-error';

/**
 * Reads the secret of that file, or writes 256 random bits to it first (mode 0600). Two processes that start together
 * agree on one value: the complete file is linked into place, which fails where one is already there.
 * @throws DirectoryError when it cannot be read or written, or is empty
 */
export function readOrCreateSecret(path: string): string {
  try {
    return read(path) ?? create(path);
  } catch (error) {
    throw directoryFault('DATA_DIR', dirname(path), error);
  }
}

function create(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  const secret = randomBytes(32).toString('base64url');
  try {
    writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
    linkSync(draft, path);
    return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // Another process was faster.
    return read(path) ?? create(path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Null when there is no such file. */
function read(path: string): string | null {
  try {
    const secret = readFileSync(path, 'utf8').trim();
    if (secret !== '') return secret;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  throw new DirectoryError(
    'DATA_DIR',
    `${path} is empty: restore it from a backup, or remove it if there is no project yet`,
  );
}
