/** `plinth backup verify --physical`, `plinth restore --physical`, `plinth restore --files-at`: a whole install. */
import { openPhysicalArchive, readVerified } from '../backup/physical/physical-archive';
import { restoreArchivedFiles } from '../backup/physical/archived-files';
import type { RecoveryTarget } from '../backup/physical/recovery';
import { restoreInstall } from '../backup/physical/restore-install';
import { IdentityOption, PassphraseOption, pipedThrough, requiredPassphrase } from './archive-streams';
import { DiskObjectStore } from '../storage/providers/disk-object-store';
import { CliError, EXIT } from './cli-error';
import { CommandContext, list } from './command-context';

export interface RestoreOptions extends PassphraseOption, IdentityOption {
  readonly as?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly physical?: boolean;
  readonly until?: string;
  readonly filesAt?: string;
  readonly keepKeys?: boolean;
  readonly newKeys?: boolean;
}

export async function verifyPhysical(
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

/** Copies archived files back, for a database that was recovered with other tools. */
async function restoreFiles(context: CommandContext, filesAt: string): Promise<void> {
  const { storage } = context.environment.localInstall();
  const target = targetOf(filesAt, '--files-at');
  if (storage.archive === null)
    throw new CliError('--files-at needs the archive of files: set FILE_ARCHIVE_URL', EXIT.usage);
  const store = new DiskObjectStore(storage);
  await store.onModuleInit();
  const report = {
    files_dir: storage.diskDir,
    archived_files: await restoreArchivedFiles(storage.archive, store, target),
  };
  context.print(report, () => list(report));
}

export async function restorePhysical(
  context: CommandContext,
  path: string | undefined,
  options: RestoreOptions,
): Promise<void> {
  if (options.filesAt !== undefined) {
    if (path !== undefined) throw new CliError('--files-at takes no backup', EXIT.usage);
    return restoreFiles(context, options.filesAt);
  }
  if (path === undefined) throw new CliError('Specify the file of a backup', EXIT.usage);
  if (options.as !== undefined || options.all || options.dryRun)
    throw new CliError('--as, --all and --dry-run cannot be combined with --physical', EXIT.usage);
  const { dataDir, walArchiveDir, storage } = context.environment.localInstall();
  const target = options.until === undefined ? 'backup' : targetOf(options.until, '--until');
  if (target !== 'backup' && walArchiveDir === null)
    throw new CliError('--until needs the archive of the write-ahead log: set WAL_ARCHIVE_DIR', EXIT.usage);
  const passphrase = await requiredPassphrase(context, options);
  const { header, manifest, archivedFiles, lastChangeAt, timeline } = await pipedThrough(
    context,
    'Restoring',
    path,
    options,
    (input) =>
      restoreInstall(input, {
        dataDir,
        passphrase,
        target,
        walArchiveDir,
        storage,
        onProgress: (message) => context.remark(message),
      }),
  );
  const report = {
    data_dir: dataDir,
    backed_up_at: header.created_at,
    last_change_at: lastChangeAt?.toISOString() ?? null,
    timeline,
    files: manifest.files.count,
    archived_files: archivedFiles,
  };
  context.print(report, () => list(report));
  context.remark('Start Plinth with this DATA_DIR.');
}

/** Without a time zone, the time would be in the zone of this machine. */
const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/;

function targetOf(until: string, option: string): RecoveryTarget {
  if (until === 'latest') return 'latest';
  if (TIME.test(until) && !Number.isNaN(Date.parse(until.replace(' ', 'T')))) return { until };
  throw new CliError(
    `${option} must be latest, or a time with its zone, such as 2026-05-01T12:30:00Z`,
    EXIT.usage,
  );
}
