// Creates and checks the directory of the embedded cluster, and the file with its superuser's password.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  chown,
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeClientAuthentication } from './client-authentication';
import { clusterSettings, type Settings, settingsText } from './cluster-settings';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import type { PostgresBinaries } from './postgres-binaries';
import type { ServerLog } from './server-log';
import type { SystemUser } from './server-user';
import { startSupervised } from './supervised-process';

const run = promisify(execFile);

export const SUPERUSER = 'postgres';

const UNFINISHED = '.postgres-unfinished-';

export interface Cluster {
  dataDir: string;
  /** <dataDir>/postgres */
  clusterDir: string;
  /** The system user that runs PostgreSQL and owns the cluster; null: the user of this process. */
  user: SystemUser | null;
  binaries: PostgresBinaries;
  settings: Settings;
  log: ServerLog;
  onProgress: (message: string) => void;
}

/**
 * The path of the cluster's directory that is passed to PostgreSQL, which is started in that directory. For
 * another system user it is the working directory's name in /proc, which works even when that user may not
 * traverse the directories above, such as /root. (PostgreSQL changes into its data directory and uses relative
 * paths from then on.)
 */
export function clusterPath(directory: string, user: SystemUser | null): string {
  return user && process.platform === 'linux' ? '/proc/self/cwd' : directory;
}

/**
 * Makes the cluster ready to start and returns its superuser's password: creates it if there is none, otherwise
 * checks its version. Removes the remains of an interrupted initdb.
 * @throws EmbeddedPostgresError also when another major version created the cluster
 */
export async function prepareCluster(cluster: Cluster): Promise<string> {
  const { dataDir, clusterDir, binaries } = cluster;
  await removeUnfinished(dataDir);
  const version = await versionOf(clusterDir);
  const password = await superuserPassword(dataDir, version !== null);
  if (version === null) await createCluster(cluster, password);
  else assertVersion(version, binaries.major, clusterDir);
  await secure(cluster);
  await writeSettings(cluster);
  await writeClientAuthentication(clusterDir, SUPERUSER, cluster.user);
  return password;
}

/** An initdb whose parent was killed may continue to write briefly, hence the retries. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(UNFINISHED));
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  await Promise.all(names.map((name) => rm(path.join(dataDir, name), options)));
}

async function versionOf(clusterDir: string): Promise<string | null> {
  try {
    return (await readFile(path.join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
  } catch {
    return null;
  }
}

function assertVersion(version: string, major: number, clusterDir: string): void {
  if (version === String(major)) return;
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} was made by PostgreSQL ${version}, and this Plinth brings PostgreSQL ${major}: ` +
      'dump it with the Plinth that made it and restore it here (docs/reference/embedded-database.md).',
  );
}

/** Written before the cluster exists and kept when initdb is interrupted, so that file and cluster always agree. */
async function superuserPassword(dataDir: string, clusterExists: boolean): Promise<string> {
  const file = path.join(dataDir, 'postgres.password');
  const stored = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (stored !== '') return stored;
  if (clusterExists) {
    throw new EmbeddedPostgresError(`${file} is missing: restore it from a backup of the data directory.`);
  }
  const password = randomBytes(24).toString('base64url');
  await replaceFile(file, `${password}\n`);
  return password;
}

/** Created under another name and renamed when complete, so that a kill at any moment leaves no partial cluster. */
async function createCluster(cluster: Cluster, password: string): Promise<void> {
  const { dataDir, clusterDir, user, onProgress } = cluster;
  await assertNothingThere(clusterDir);
  onProgress('Creating the database (first start, a few seconds) ...');
  const unfinished = await mkdtemp(path.join(dataDir, UNFINISHED));
  try {
    if (user) await chown(unfinished, user.uid, user.gid);
    await initialise(cluster, unfinished, password);
    await appendFile(path.join(unfinished, 'postgresql.conf'), "\ninclude 'plinth.conf'\n", { flush: true });
    await rename(unfinished, clusterDir);
  } catch (error) {
    // Frees the space, in case the disk is full.
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function assertNothingThere(clusterDir: string): Promise<void> {
  const entries = await readdir(clusterDir).catch(() => []);
  if (entries.length === 0) return;
  throw new EmbeddedPostgresError(
    `${clusterDir} is not empty, but holds no PostgreSQL database: move it elsewhere.`,
  );
}

async function initialise(cluster: Cluster, directory: string, password: string): Promise<void> {
  const { binaries, user, log, dataDir, settings } = cluster;
  const input = await passwordInput(dataDir, password, user);
  try {
    const args = initdbArguments(clusterPath(directory, user), settings);
    const initdb = await startSupervised(binaries.initdb, args, {
      cwd: directory,
      user,
      input: input.fd,
      output: log.fd,
    });
    initdb.hold();
    const { code } = await initdb.exited;
    if (code === 0) return;
  } finally {
    await input.close();
  }
  throw new EmbeddedPostgresError(
    `The database cannot be created: ${await log.lastFault()} (see ${log.file}).`,
  );
}

/** The builtin locale provider sorts and folds UTF-8 the same way on every system, regardless of the installed locales. */
function initdbArguments(directory: string, settings: Settings): string[] {
  return [
    `--pgdata=${directory}`,
    `--username=${SUPERUSER}`,
    '--pwfile=/dev/stdin',
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
    ...(settings.fsync === 'off' ? ['--no-sync'] : []),
  ];
}

/** An open file without a name: initdb reads it as its standard input, and no other process can open it. */
async function passwordInput(
  dataDir: string,
  password: string,
  user: SystemUser | null,
): Promise<FileHandle> {
  const file = path.join(dataDir, `${UNFINISHED}password`);
  try {
    await writeFile(file, `${password}\n`, { mode: 0o600 });
    if (user) await chown(file, user.uid, user.gid);
    return await open(file, 'r');
  } finally {
    await rm(file, { force: true });
  }
}

/** PostgreSQL refuses a data directory with another owner or mode; a restored backup may have lost them. */
async function secure({ clusterDir, user }: Cluster): Promise<void> {
  const { uid, mode } = await stat(clusterDir);
  if (user && uid !== user.uid) await run('chown', ['-R', `${user.uid}:${user.gid}`, clusterDir]);
  if ((mode & 0o077) !== 0) await chmod(clusterDir, 0o700);
}

async function writeSettings({ clusterDir, user, settings }: Cluster): Promise<void> {
  await replaceFile(path.join(clusterDir, 'plinth.conf'), settingsText(clusterSettings(settings)), user);
}

/** Replaces the file atomically, also on a full disk. @param user the new owner of the file */
async function replaceFile(file: string, text: string, user: SystemUser | null = null): Promise<void> {
  const draft = `${file}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    if (user) await chown(draft, user.uid, user.gid);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
