/** A secret in the data directory, generated at the first start. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../common/errors/error-facts';
import { directoryFault, DirectoryError } from './directory-error';

/**
 * Reads the secret of that file, or writes 256 random bits to it first (mode 0600). Two processes that start together
 * agree on one value: the complete file is linked into place, which fails if one is already there.
 * @throws DirectoryError when it cannot be read or written, or is empty
 */
export function readOrCreateSecret(path: string): string {
  try {
    return assertNotEmpty(path, readSecret(path)) ?? create(path);
  } catch (error) {
    throw directoryFault('DATA_DIR', dirname(path), error);
  }
}

/** The secret of a file that may be absent. @throws DirectoryError when it cannot be read, or is empty */
export function readSecretIn(directory: string, name: string): string | null {
  const path = join(directory, name);
  try {
    return assertNotEmpty(path, readSecret(path));
  } catch (error) {
    throw directoryFault('DATA_DIR', directory, error);
  }
}

function create(path: string): string {
  const secret = randomBytes(32).toString('base64url');
  const draft = writeDraft(path, secret);
  try {
    linkSync(draft, path);
    return secret;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    // Another process created it first.
    return assertNotEmpty(path, readSecret(path)) ?? create(path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function assertNotEmpty(path: string, secret: string | null): string | null {
  if (secret !== '') return secret;
  throw new DirectoryError(
    'DATA_DIR',
    `${path} is empty: restore it from a backup, or remove it if there is no project yet`,
  );
}

/** Replaces the file with the secret, mode 0600. */
export function writeSecret(path: string, secret: string): void {
  renameSync(writeDraft(path, secret), path);
}

/** Writes the secret to a temporary file next to the final file. */
function writeDraft(path: string, secret: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  // The file of a killed process may have another mode, or be a link.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  return draft;
}

/** The secret in a file; null if it does not exist, empty if it is empty. @throws other errors of the file system */
export function readSecret(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
