/** Runs all checks of `plinth doctor` on the server. */
import { messageOf } from '../common/errors/error-facts';
import { BackupsCheck } from './checks/backups.check';
import { DatabaseAccessCheck } from './checks/database-access.check';
import { DatabaseCheck } from './checks/database.check';
import { DoctorCheck, DoctorOptions, Finding } from './finding';
import { DiskCheck, VersionCheck } from './checks/machine.check';
import { MailCheck } from './checks/mail.check';
import { MasterKeyCheck } from './checks/master-key.check';
import { PoolerCheck } from './checks/pooler.check';
import { ProjectsCheck } from './checks/projects.check';
import { PublicUrlCheck } from './checks/public-url.check';
import { RedisCheck } from './checks/redis.check';
import { ReplicasCheck } from './checks/replicas.check';
import { SharedRolesCheck } from './checks/shared-roles.check';
import { ChangesCheck } from './checks/changes.check';
import { StorageCheck } from './checks/storage.check';
import { WebhooksCheck } from './checks/webhooks.check';
import { WalArchiveCheck } from './checks/wal-archive.check';

/** In the order of the report. */
export const DOCTOR_CHECKS = [
  VersionCheck,
  DatabaseCheck,
  DatabaseAccessCheck,
  SharedRolesCheck,
  ChangesCheck,
  ReplicasCheck,
  PoolerCheck,
  MasterKeyCheck,
  DiskCheck,
  RedisCheck,
  StorageCheck,
  MailCheck,
  PublicUrlCheck,
  WebhooksCheck,
  BackupsCheck,
  WalArchiveCheck,
  ProjectsCheck,
] as const;

/** Milliseconds for one check; that of many projects takes the longest. */
const LIMIT_MS = 120_000;

export class DoctorService {
  constructor(private readonly checks: readonly DoctorCheck[]) {}

  async examine(options: DoctorOptions): Promise<Finding[]> {
    const found = await Promise.all(this.checks.map((check) => findWithin(check, options)));
    return found.flat();
  }
}

async function findWithin(check: DoctorCheck, options: DoctorOptions): Promise<Finding[]> {
  const failed = (reason: string): Finding[] => [
    {
      check: check.name,
      status: 'failed',
      message: `the check failed: ${reason}`,
      remedy: 'The log of the server may say more.',
    },
  ];
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(() => resolve(failed(`no result within ${LIMIT_MS / 1000} s`)), LIMIT_MS);
  });
  const work = check.find(options).catch((error: unknown) => failed(messageOf(error)));
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}
