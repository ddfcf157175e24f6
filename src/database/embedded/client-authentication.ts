// Writes <cluster>/plinth_hba.conf, the rules by which the embedded PostgreSQL admits clients, at each start.
import { chown, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LOGIN_GROUP } from '../platform/server-capabilities';
import type { SystemUser } from './server-user';

const FILE = 'plinth_hba.conf';
const LOCAL_FILE = 'pg_hba.local.conf';

/**
 * Admits the superuser and members of the group only. Owners may create roles with LOGIN, but cannot add them to the
 * group, so no connection escapes Plinth's limits. The administrator's own rules come first.
 */
function rules(superuser: string): string {
  return [
    `# Written by Plinth at each start. Put your own rules into ${LOCAL_FILE}, which comes first (docs/reference/embedded-database.md).`,
    `include_if_exists ${LOCAL_FILE}`,
    `local  all,replication  ${superuser}        scram-sha-256`,
    `host   all,replication  ${superuser}        127.0.0.1/32  scram-sha-256`,
    `local  all              +${LOGIN_GROUP}  scram-sha-256`,
    `host   all              +${LOGIN_GROUP}  127.0.0.1/32  scram-sha-256`,
    '',
  ].join('\n');
}

/**
 * Called before the server starts, which reads the file because of hbaSetting(). PostgreSQL's own pg_hba.conf is left unchanged for
 * earlier versions of Plinth.
 */
export async function writeClientAuthentication(
  clusterDir: string,
  superuser: string,
  user: SystemUser | null,
): Promise<void> {
  const draft = path.join(clusterDir, `${FILE}.new`);
  await writeFile(draft, rules(superuser), { mode: 0o600, flush: true });
  if (user) await chown(draft, user.uid, user.gid);
  await rename(draft, path.join(clusterDir, FILE));
}

/** @param directory the directory of the cluster, as PostgreSQL reaches it */
export const hbaSetting = (directory: string): string => `hba_file=${path.join(directory, FILE)}`;
