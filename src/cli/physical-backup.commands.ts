/** `plinth backup --physical`, `plinth backup verify --physical`, `plinth restore --physical`: a whole install. */
import { pipeline } from 'node:stream/promises';
import { compressionOf } from '../backup/archive/compression';
import { openPhysicalArchive, readVerified } from '../backup/physical/physical-archive';
import type { RecoveryTarget } from '../backup/physical/recovery';
import { RestoredInstall, restoreInstall } from '../backup/physical/restore-install';
import {
  headersFor,
  IdentityOption,
  PassphraseOption,
  pipedThrough,
  progressOf,
  requiredPassphrase,
  writeWhole,
} from './archive-streams';
import { type BackupOptions, outputOf, type PhysicalCommands, type RestoreOptions } from './backup.commands';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list } from './format';
import { sizeOf } from './progress';

export const PHYSICAL_COMMANDS: PhysicalCommands = {
  backUp: backUpInstall,
  verify: verifyInstall,
  restore: restoreFromFile,
};

async function backUpInstall(context: CommandContext, options: BackupOptions): Promise<void> {
  const passphrase = await requiredPassphrase(context, options);
  const { path, encrypting } = outputOf(context, 'install', options);
  const target = `/physical-backup?files=${options.files}&compression=${compressionOf(path)}`;
  const response = await context.server.stream('GET', target, { headers: headersFor(passphrase) });
  const progress = progressOf(context, 'Backing up the install', null);
  if (path === '-') {
    await pipeline([response, progress, ...encrypting, context.environment.stdout], { end: false });
    return;
  }
  const bytes = await writeWhole(path, (file) => pipeline([response, progress, ...encrypting, file]));
  context.print({ file: path, bytes }, () => `${path} (${sizeOf(bytes)})\n`);
}

async function verifyInstall(
  context: CommandContext,
  path: string,
  options: PassphraseOption & IdentityOption,
): Promise<void> {
  const passphrase = await requiredPassphrase(context, options);
  const report = await pipedThrough(context, 'Verifying', path, options, async (input) => {
    const archive = await openPhysicalArchive(input, passphrase);
    const { files } = await readVerified(archive, async () => undefined);
    const { header } = archive;
    return {
      created_at: header.created_at,
      plinth: header.plinth,
      postgres: header.postgres,
      platform: header.platform,
      system_id: header.system_id,
      first_wal_file: header.first_wal_file,
      files: header.has_files ? files.count : 'not in the backup',
    };
  });
  context.print(report, () => `The backup is intact.\n${list(report)}`);
}

async function restoreFromFile(
  context: CommandContext,
  path: string,
  options: RestoreOptions,
): Promise<void> {
  if (options.as !== undefined || options.all || options.dryRun)
    throw new CliError('--as, --all and --dry-run cannot be combined with --physical', EXIT.usage);
  const { dataDir, walArchiveDir, storage } = context.environment.localInstall();
  const target = targetOf(options.until);
  if (target !== 'backup' && walArchiveDir === null)
    throw new CliError('--until needs the archive of the write-ahead log: set WAL_ARCHIVE_DIR', EXIT.usage);
  const passphrase = await requiredPassphrase(context, options);
  const restored = await pipedThrough(context, 'Restoring', path, options, (input) =>
    restoreInstall(input, {
      dataDir,
      passphrase,
      target,
      walArchiveDir,
      storage,
      onProgress: (message) => context.remark(message),
    }),
  );
  const report = reportOf(restored, dataDir);
  context.print(report, () => list(report));
  context.remark('Start Plinth with this DATA_DIR.');
}

function reportOf({ header, manifest, lastChangeAt, timeline }: RestoredInstall, dataDir: string): Report {
  return {
    data_dir: dataDir,
    backed_up_at: header.created_at,
    last_change_at: lastChangeAt?.toISOString() ?? null,
    timeline,
    files: manifest.files.count,
  };
}

type Report = Readonly<Record<string, string | number | null>>;

/** Without a time zone, a time would mean that of this machine. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

function targetOf(until: string | undefined): RecoveryTarget {
  if (until === undefined) return 'backup';
  if (until === 'latest') return 'latest';
  if (TIME.test(until) && !Number.isNaN(Date.parse(until.replace(' ', 'T')))) return { until };
  throw new CliError(
    '--until must be latest, or a time with its zone, such as 2026-05-01T12:30:00Z',
    EXIT.usage,
  );
}
