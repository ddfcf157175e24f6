/** A secret in the data directory, generated at the first start. */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Reads the secret of that file, or writes 256 random bits to it first (mode 0600). Two processes that start together
 * agree on one value: the complete file is linked into place, which fails where one is already there.
 */
export function readOrCreateSecret(path: string): string {
  const existing = readSecret(path);
  if (existing) return existing;
  const draft = writeDraft(path, randomBytes(32).toString('base64url'));
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

/** Writes a secret to that file, mode 0600, in place of what is there. */
export function writeSecret(path: string, secret: string): void {
  renameSync(writeDraft(path, secret), path);
}

/** A complete file beside the one that it becomes. */
function writeDraft(path: string, secret: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  // What a killed process left may have another mode, or be a link.
  rmSync(draft, { force: true });
  writeFileSync(draft, `${secret}\n`, { mode: 0o600, flush: true });
  return draft;
}

/** The secret of that file, or null where there is no such file or it is empty. @throws the file system's other errors */
export function readSecret(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
