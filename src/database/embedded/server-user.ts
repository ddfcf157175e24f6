// Chooses the system user that PostgreSQL runs as. PostgreSQL refuses to run as root.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf, messageOf } from '../../common/errors/error-facts';
import { EmbeddedPostgresError } from './embedded-postgres.error';

const run = promisify(execFile);

/** Unprivileged users that exist on nearly every system, best first. None is ever created. */
const CANDIDATES = ['postgres', 'nobody'];

export interface SystemUser {
  uid: number;
  gid: number;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The user for a cluster directory: null (the user of this process) unless we are root; then the owner of an
 * existing cluster, or the first unprivileged user that the system has. Throws EmbeddedPostgresError when there
 * is none, or when the cluster belongs to another user and we are not root.
 */
export async function serverUser(clusterDir: string): Promise<SystemUser | null> {
  const owner = await ownerOf(clusterDir);
  if (!isRoot()) {
    assertOwnedByUs(owner, clusterDir);
    return null;
  }
  return owner && owner.uid !== 0 ? owner : unprivilegedUser();
}

async function ownerOf(path: string): Promise<SystemUser | null> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new EmbeddedPostgresError(`The database directory ${path} cannot be read: ${messageOf(error)}`);
  }
}

function assertOwnedByUs(owner: SystemUser | null, clusterDir: string): void {
  if (owner === null || owner.uid === process.getuid?.()) return;
  throw new EmbeddedPostgresError(
    `The database directory ${clusterDir} belongs to another user (uid ${owner.uid}): ` +
      'start Plinth as root or as that user, or set DATA_DIR to another directory.',
  );
}

async function unprivilegedUser(): Promise<SystemUser> {
  for (const name of CANDIDATES) {
    const user = await lookUp(name);
    if (user && user.uid !== 0) return user;
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and this system has none of the users ${CANDIDATES.join(', ')}: ` +
      'start Plinth as an ordinary user, or set DATABASE_URL.',
  );
}

async function lookUp(name: string): Promise<SystemUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}
