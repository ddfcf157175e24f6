/** `plinth backup`, `plinth backup verify`, `plinth restore`. */
import type { Command } from 'commander';
import { text } from 'node:stream/consumers';
import { Duplex, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AGE_ENDING, encrypted } from '../backup/archive/age';
import type { ArchiveManifest } from '../backup/archive/archive-format';
import { compressionOf, mediaTypeOf } from '../backup/archive/compression';
import { nameOfPlace } from '../config/backup-config';
import { type StoreOpener, storeOpener } from '../backup/stored/open-stored';
import { createObjectStore } from '../storage/providers/object-store.provider';
import { isOfInstall, VerifiedArchive, verifyArchive } from '../backup/archive/open-archive';
import {
  headersFor,
  PASSPHRASE_FILE,
  passphraseOf,
  PassphraseOption,
  IDENTITY_FILE,
  IdentityOption,
  pipedThrough,
  progressOf,
  requiredPassphrase,
  verifying,
  writeWhole,
} from './archive-streams';
import { addBackupScheduleCommands, assertOneSubject } from './backup-schedule.commands';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext, list, table } from './command-context';
import { type RestoreOptions, restorePhysical, verifyPhysical } from './physical-backup.commands';
import { sizeOf } from './progress';

interface BackupOptions extends PassphraseOption {
  readonly recipient?: readonly string[];
  readonly output?: string;
  readonly all?: boolean;
  readonly physical?: boolean;
  readonly files: boolean;
}

type VerifyOptions = PassphraseOption & IdentityOption & Pick<BackupOptions, 'physical' | 'files'>;

const KEYS_KEPT =
  'Warning: it has the keys, sessions and database password of the archive. Everybody who could read the archive knows them: rotate the keys of an archive that is not yours.';

/** The target of a backup, and the route of its archive with its query. */
interface Source {
  readonly slug: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Default: one project. */
  readonly of?: 'all projects' | 'the install';
}

export function addBackupCommands(program: Command, context: CommandContext): void {
  const backup = program
    .command('backup')
    .description('back up a project: database, files, settings and keys in one archive')
    .argument('[project]', 'id or slug')
    .option('--all', 'back up the install: all projects, the audit log, schedules and servers in one archive')
    .option(
      '-o, --output <path>',
      'file to write: .tar.gz, .tar.zst or .tar; - is standard output; default: <slug>-<time>.tar.gz',
    )
    .option(
      '--physical',
      'back up the embedded PostgreSQL of the install as it is, its keys and files on disk',
    )
    .option(
      '--no-files',
      'with --physical: leave out the files on disk; with verify: do not read those next to an archive',
    )
    .option(
      '--recipient <keys...>',
      'encrypt the archive for these public keys of age; default: BACKUP_RECIPIENTS',
    )
    .option(...PASSPHRASE_FILE)
    .action(async (name: string | undefined, options: BackupOptions) => {
      assertOneSubject(name, options);
      const passphrase = await requiredPassphrase(context, options);
      await backUp(context, await sourceOf(context, name, options), passphrase, options);
    });
  addVerify(backup, context);
  addExport(backup, context);
  addBackupScheduleCommands(backup, context);
  addRestore(program, context);
}

async function sourceOf(
  context: CommandContext,
  name: string | undefined,
  { physical, files }: BackupOptions,
): Promise<Source> {
  if (physical)
    return { slug: 'install', path: '/physical-backup', query: { files: String(files) }, of: 'the install' };
  if (name === undefined) return { slug: 'install', path: '/backup', of: 'all projects' };
  const { id, slug } = await context.server.findProject(name);
  return { slug, path: `/projects/${id}/backup` };
}

/** The path of an archive, and the stream that encrypts it if requested. */
function outputOf(
  context: CommandContext,
  slug: string,
  { output, recipient: recipients = context.environment.ageKeys().recipients }: BackupOptions,
): { readonly path: string; readonly encrypting: readonly Duplex[] } {
  const isEncrypted = recipients.length > 0;
  const time = new Date().toISOString().replace(/[:.]/g, '');
  return {
    path: output ?? `${slug}-${time}.tar.gz${isEncrypted ? AGE_ENDING : ''}`,
    encrypting: isEncrypted ? [Duplex.from((source: Readable) => encrypted(source, recipients))] : [],
  };
}

async function backUp(
  context: CommandContext,
  { slug, path: source, query, of }: Source,
  passphrase: string,
  options: BackupOptions,
): Promise<void> {
  const { path, encrypting } = outputOf(context, slug, options);
  const target = `${source}?${new URLSearchParams({ ...query, compression: compressionOf(path) }).toString()}`;
  const response = await context.server.stream('GET', target, { headers: headersFor(passphrase) });
  const progress = progressOf(context, `Backing up ${of === 'the install' ? of : slug}`, null);
  // Verified while it is written, because the archive of all projects lists those that failed only at its end.
  const check = of === 'all projects' ? verifying(passphrase) : null;
  const streams = [response, progress, ...(check ? [check.passing] : []), ...encrypting];
  if (path === '-') await pipeline([...streams, context.environment.stdout], { end: false });
  else {
    const bytes = await writeWhole(path, async (file) => {
      await pipeline([...streams, file]);
      await check?.verified;
    });
    const project = of === 'the install' ? {} : { project: slug };
    context.print({ ...project, file: path, bytes }, () => `${path} (${sizeOf(bytes)})\n`);
  }
  if (check) reportFailed(context, (await check.verified).manifest);
}

function reportFailed(context: CommandContext, { failed = [] }: ArchiveManifest): void {
  for (const { slug, reason } of failed)
    context.reportFailure(`Project ${slug} could not be backed up: ${reason}`);
}

function addVerify(backup: Command, context: CommandContext): void {
  backup
    .command('verify <file>')
    .description(
      'compare a backup with its checksums; needs no server. With the passphrase, also checks its origin',
    )
    .option('--physical', 'the backup was made with --physical')
    .option(...PASSPHRASE_FILE)
    .option(...IDENTITY_FILE)
    .action(async (path: string, _options: PassphraseOption, command: Command) => {
      // Commander gives an option that both commands have to the parent command.
      const options = command.optsWithGlobals<VerifyOptions>();
      if (options.physical) return verifyPhysical(context, path, options);
      const passphrase = await passphraseOf(context, options);
      const opener = options.files ? () => openerFor(context, options) : null;
      const archive = await pipedThrough(context, 'Verifying', path, options, (input) =>
        verifyArchive(input, passphrase, opener),
      );
      const report = {
        ...factsOf(archive),
        passphrase: passphrase === null ? 'not checked' : 'correct',
      };
      context.print(report, () => `The backup is intact.\n${list(report)}`);
      if (archive.isIncremental && archive.comparedFiles < archive.manifest.files.count)
        context.remark(
          'Its files were not read: that needs the passphrase, and BACKUP_URL with its destination',
        );
      reportFailed(context, archive.manifest);
    });
}

/**
 * Opens the store at the destination of scheduled backups, where the files of incremental archives are; null without a
 * destination.
 */
function openerFor(context: CommandContext, { identityFile }: IdentityOption): StoreOpener | null {
  const { backups } = context.environment.localInstall();
  if (backups === null) return null;
  const store = createObjectStore(backups);
  return storeOpener({
    name: nameOfPlace(backups),
    identityFile: identityFile ?? context.environment.ageKeys().identityFile,
    store: async () => store,
  });
}

function addExport(backup: Command, context: CommandContext): void {
  backup
    .command('export')
    .description('write a scheduled archive with the bytes of its files, which an incremental one lacks')
    .argument('<project>', 'id or slug')
    .argument('[archive]', 'its name in plinth backup runs; default: the newest')
    .action(async (name: string, archive: string | undefined, _options: object, command: Command) => {
      const options = command.optsWithGlobals<BackupOptions>();
      const passphrase = await requiredPassphrase(context, options);
      const { id, slug } = await context.server.findProject(name);
      const query = { project_id: id, limit: 1_000 };
      const runs = await dataOf(context.api.GET('/admin/v1/backups/runs', { params: { query } }));
      const run = runs.find(
        (one) =>
          one.status === 'succeeded' &&
          one.removed_at === null &&
          (archive === undefined || one.archive === archive),
      );
      if (!run) throw new CliError(`${slug} has no archive ${archive ?? ''}`.trimEnd(), EXIT.failed);
      const path = `/projects/${id}/backups/${run.id}`;
      await backUp(context, { slug, path }, passphrase, options);
    });
}

function factsOf({
  header,
  manifest,
  isIncremental,
  comparedFiles,
}: VerifiedArchive): Readonly<Record<string, unknown>> {
  const { created_at: createdAt, plinth } = header;
  if (isOfInstall(header))
    return { install: 'all', created_at: createdAt, plinth, projects: header.projects.length };
  return {
    project: header.project.slug,
    id: header.project.id,
    created_at: createdAt,
    plinth,
    tables: header.tables.length,
    rows: Object.values(manifest.rows).reduce((sum, rows) => sum + rows, 0),
    files: manifest.files.count,
    missing_files: manifest.files.missing,
    stored_files: isIncremental ? manifest.files.count : 0,
    compared_files: comparedFiles,
  };
}

function addRestore(program: Command, context: CommandContext): void {
  program
    .command('restore [file]')
    .description('restore a project from a backup, with the same id; - reads standard input')
    .option(
      '--as <slug>',
      'restore under another slug; if the archived project exists, as a copy with new keys',
    )
    .option('--all', 'restore a backup of the install: all projects that do not exist')
    .option(
      '--keep-keys',
      'keep the keys, sessions and database password of a project, if nobody else knows them',
    )
    .option('--new-keys', 'with --all: new keys and passwords for every project')
    .option('--dry-run', 'check the backup and whether it could be restored; change nothing')
    .option('--physical', 'restore a whole install into an empty DATA_DIR; needs no server')
    .option(
      '--files-at <time>',
      'copy the files of a time, or latest, back from FILE_ARCHIVE_URL; needs no server',
    )
    .option('--until <time>', 'with --physical: recover from WAL_ARCHIVE_DIR until a time, or latest')
    .option(...PASSPHRASE_FILE)
    .option(...IDENTITY_FILE)
    .action(async (path: string | undefined, options: RestoreOptions) => {
      if (
        path === undefined ||
        options.physical ||
        options.until !== undefined ||
        options.filesAt !== undefined
      )
        return restorePhysical(context, path, options);
      const passphrase = await requiredPassphrase(context, options);
      if (!options.all) return restoreProject(context, path, passphrase, options);
      if (options.as !== undefined) throw new CliError('--as restores one project, not --all', EXIT.usage);
      return restoreInstall(context, path, passphrase, options);
    });
}

async function restoreProject(
  context: CommandContext,
  path: string,
  passphrase: string,
  options: RestoreOptions,
): Promise<void> {
  const { as: slug, dryRun = false, keepKeys = false } = options;
  const query = new URLSearchParams({
    dry_run: String(dryRun),
    keep_keys: String(keepKeys),
    ...(slug === undefined ? {} : { slug }),
  });
  const target = `/restore?${query.toString()}`;
  const answer = await send<Schema<'RestoreReport'>>(context, path, passphrase, options, target);
  const { skipped_settings: skipped, ...rest } = answer;
  context.print(answer, () => list(rest));
  for (const line of skipped) context.remark(`Not restored: ${line}`);
  if (!answer.same_id) context.remark('The restored project is a copy with a new id and new keys.');
  else if (answer.keys_kept) context.remark(KEYS_KEPT);
  else context.remark('Its keys and its database password are new, and its users sign in again.');
}

async function restoreInstall(
  context: CommandContext,
  path: string,
  passphrase: string,
  options: RestoreOptions,
): Promise<void> {
  const { dryRun = false, newKeys = false } = options;
  const target = `/restore/all?dry_run=${String(dryRun)}&keep_keys=${String(!newKeys)}`;
  const answer = await send<Schema<'InstallRestoreReport'>>(context, path, passphrase, options, target);
  const { projects, ...rest } = answer;
  context.print(answer, () => table(projects) + list(rest));
  const others = projects.filter(({ outcome }) => ['exists', 'failed'].includes(outcome)).length;
  if (others > 0) context.reportFailure(`${others} of ${projects.length} projects were not restored`);
}

/** Sends an archive to the server. */
function send<T>(
  context: CommandContext,
  path: string,
  passphrase: string,
  options: IdentityOption,
  target: string,
): Promise<T> {
  return pipedThrough(context, 'Restoring', path, options, async (input) => {
    const response = await context.server.stream('POST', target, {
      headers: { 'content-type': mediaTypeOf(compressionOf(path)), ...headersFor(passphrase) },
      openBody: () => input,
    });
    return JSON.parse(await text(response)) as T;
  });
}
