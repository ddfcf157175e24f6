// Writes <cluster>/pg_hba.conf, the rules by which the embedded PostgreSQL admits clients, at each start.
import { chown, copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LOGIN_GROUP } from '../platform/server-capabilities';
import type { SystemUser } from './server-user';

const FILE = 'pg_hba.conf';
const LOCAL_FILE = 'pg_hba.local.conf';
const HEADER = '# Written by Plinth at each start.';

/**
 * Admits the superuser and members of the group only. Owners may create roles with LOGIN, but cannot add them to the
 * group, so no connection escapes Plinth's limits. The administrator's own rules come first.
 */
function rules(superuser: string): string {
  return [
    `${HEADER} Rules of your own go to ${LOCAL_FILE}, which comes first (docs/embedded-database.md).`,
    `include_if_exists ${LOCAL_FILE}`,
    `local  all,replication  ${superuser}        scram-sha-256`,
    `host   all,replication  ${superuser}        127.0.0.1/32  scram-sha-256`,
    `local  all              +${LOGIN_GROUP}  scram-sha-256`,
    `host   all              +${LOGIN_GROUP}  127.0.0.1/32  scram-sha-256`,
    '',
  ].join('\n');
}

/** Called before the server starts. A pg_hba.conf that Plinth did not write is kept as pg_hba.conf.old. */
export async function writeClientAuthentication(
  clusterDir: string,
  superuser: string,
  user: SystemUser | null,
): Promise<void> {
  const file = path.join(clusterDir, FILE);
  const existing = await readFile(file, 'utf8').catch(() => '');
  if (existing !== '' && !existing.startsWith(HEADER)) await copyFile(file, `${file}.old`);
  // PostgreSQL reads each file of its directory for a physical backup.
  if (user) await chown(`${file}.old`, user.uid, user.gid).catch(() => undefined);
  await writeFile(`${file}.new`, rules(superuser), { mode: 0o600, flush: true });
  if (user) await chown(`${file}.new`, user.uid, user.gid);
  await rename(`${file}.new`, file);
}
