/** `plinth backup`, `plinth backup verify`, `plinth restore`. */
import type { Command } from 'commander';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { verifyArchive } from '../backup/archive/open-archive';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list } from './format';
import { sizeOf, withProgress } from './progress';

const PASSPHRASE_FILE = [
  '--passphrase-file <path>',
  'read the passphrase from a file; default: BACKUP_PASSPHRASE',
] as const;

export interface PassphraseOption {
  readonly passphraseFile?: string;
}

/** What the options --physical and --until of these commands do (physical-backup.commands.ts). */
export interface PhysicalCommands {
  backUp(context: CommandContext, options: BackupOptions): Promise<void>;
  verify(context: CommandContext, path: string, options: PassphraseOption): Promise<void>;
  restore(context: CommandContext, path: string, options: RestoreOptions): Promise<void>;
}

export interface BackupOptions extends PassphraseOption {
  readonly output?: string;
  readonly physical?: boolean;
  readonly files: boolean;
}

export interface RestoreOptions extends PassphraseOption {
  readonly as?: string;
  readonly dryRun?: boolean;
  readonly physical?: boolean;
  readonly until?: string;
}

interface RestoreAnswer extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly slug: string;
  readonly same_id: boolean;
}

export function addBackupCommands(
  program: Command,
  context: CommandContext,
  physical: PhysicalCommands,
): void {
  const backup = program
    .command('backup')
    .description('back up a project: database, files, settings and keys in one archive')
    .argument('[project]', 'id or slug')
    .option('-o, --output <path>', 'file to write, or - for standard output; default: <slug>-<time>.tar.gz')
    .option('--physical', 'back up the whole install instead, with the embedded PostgreSQL as it is')
    .option('--no-files', 'with --physical: leave out the files on disk')
    .option(...PASSPHRASE_FILE)
    .action(async (name: string | undefined, options: BackupOptions) => {
      if (options.physical) return physical.backUp(context, options);
      if (name === undefined) throw new CliError('Name a project, or give --physical', EXIT.usage);
      const passphrase = await requiredPassphrase(context, options);
      const { id, slug } = await context.server.findProject(name);
      const path = options.output ?? `${slug}-${new Date().toISOString().replace(/[:.]/g, '')}.tar.gz`;
      const response = await context.server.stream('GET', `/projects/${id}/backup`, {
        headers: headersFor(passphrase),
      });
      const progress = progressOf(context, `Backing up ${slug}`, null);
      if (path === '-') await pipeline(response, progress, context.environment.stdout, { end: false });
      else {
        const bytes = await writeWhole(path, (file) => pipeline(response, progress, file));
        context.print({ project: slug, file: path, bytes }, () => `${path} (${sizeOf(bytes)})\n`);
      }
    });
  addVerify(backup, context, physical);
  addRestore(program, context, physical);
}

function addVerify(backup: Command, context: CommandContext, physical: PhysicalCommands): void {
  backup
    .command('verify <file>')
    .description(
      'compare a backup with its checksums; needs no server. With the passphrase, also checks its origin',
    )
    .option('--physical', 'the backup is one of the whole install')
    .option(...PASSPHRASE_FILE)
    .action(async (path: string, _options: PassphraseOption, command: Command) => {
      // Commander gives an option that both commands have to the outer one.
      const options = command.optsWithGlobals<PassphraseOption & { physical?: boolean }>();
      if (options.physical) return physical.verify(context, path, options);
      const passphrase = await passphraseOf(context, options);
      const { header, manifest } = await pipedThrough(context, 'Verifying', path, (input) =>
        verifyArchive(input, passphrase),
      );
      const report = {
        project: header.project.slug,
        id: header.project.id,
        created_at: header.created_at,
        plinth: header.plinth,
        tables: header.tables.length,
        rows: Object.values(manifest.rows).reduce((sum, rows) => sum + rows, 0),
        files: manifest.files.count,
        missing_files: manifest.files.missing,
        passphrase: passphrase === null ? 'not checked' : 'correct',
      };
      context.print(report, () => `The backup is intact.\n${list(report)}`);
    });
}

function addRestore(program: Command, context: CommandContext, physical: PhysicalCommands): void {
  program
    .command('restore <file>')
    .description('restore a project from a backup, with the same id and keys; - reads standard input')
    .option('--as <slug>', 'restore under another slug; beside the archived project, as a copy with new keys')
    .option('--dry-run', 'check the backup and whether it could be restored; change nothing')
    .option('--physical', 'restore a whole install into an empty DATA_DIR; needs no server')
    .option('--until <time>', 'with --physical: recover from WAL_ARCHIVE_DIR until a time, or latest')
    .option(...PASSPHRASE_FILE)
    .action(async (path: string, options: RestoreOptions) => {
      if (options.physical || options.until !== undefined) return physical.restore(context, path, options);
      const passphrase = await requiredPassphrase(context, options);
      const query = new URLSearchParams({ dry_run: String(options.dryRun ?? false) });
      if (options.as !== undefined) query.set('slug', options.as);
      const answer = await pipedThrough(context, 'Restoring', path, async (input) => {
        const response = await context.server.stream('POST', `/restore?${query.toString()}`, {
          headers: { 'content-type': 'application/gzip', ...headersFor(passphrase) },
          openBody: () => input,
        });
        return JSON.parse(await text(response)) as RestoreAnswer;
      });
      context.print(answer, () => list(answer));
      if (!answer.same_id) context.remark('It is a copy with an id and keys of its own.');
    });
}

/** Opens an archive and shows how much of it was read. */
export async function pipedThrough<T>(
  context: CommandContext,
  verb: string,
  path: string,
  use: (input: Readable) => Promise<T>,
): Promise<T> {
  const isStdin = path === '-';
  const total = isStdin ? null : await sizeOnDisk(path);
  const source = isStdin ? context.environment.stdin : createReadStream(path);
  const progress = progressOf(context, `${verb} ${isStdin ? 'standard input' : path}`, total);
  // Its failure reaches the reader of `progress`.
  const piped = pipeline(source, progress).catch(() => undefined);
  try {
    return await use(progress);
  } finally {
    progress.destroy();
    await piped;
  }
}

async function sizeOnDisk(path: string): Promise<number> {
  const facts = await stat(path).catch((error: Error) => {
    throw new CliError(`${path} cannot be read: ${error.message}`, EXIT.failed);
  });
  return facts.size;
}

/** Writes to a draft beside the file, which replaces it when it is complete and durable. @returns its bytes */
export async function writeWhole(path: string, write: (file: Writable) => Promise<void>): Promise<number> {
  const draft = `${path}.part`;
  try {
    await write(createWriteStream(draft, { mode: 0o600 }));
    const file = await open(draft, 'r+');
    await file.sync();
    const { size } = await file.stat();
    await file.close();
    await rename(draft, path);
    return size;
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError(`The backup was not written: ${(error as Error).message}`, EXIT.failed);
  }
}

export function progressOf(
  context: CommandContext,
  label: string,
  total: number | null,
): ReturnType<typeof withProgress> {
  const { isTerminal, err } = context.environment;
  return withProgress({ label, total, isTerminal, write: context.isJson ? () => undefined : err });
}

/** HTTP headers hold only ASCII. */
export function headersFor(passphrase: string): Record<string, string> {
  return { 'backup-passphrase': encodeURIComponent(passphrase) };
}

export async function requiredPassphrase(
  context: CommandContext,
  options: PassphraseOption,
): Promise<string> {
  const passphrase = await passphraseOf(context, options);
  if (passphrase !== null) return passphrase;
  throw new CliError('A backup needs a passphrase: set BACKUP_PASSPHRASE, or --passphrase-file', EXIT.usage);
}

async function passphraseOf(
  context: CommandContext,
  { passphraseFile }: PassphraseOption,
): Promise<string | null> {
  if (passphraseFile === undefined) return context.environment.passphrase();
  const content = await readFile(passphraseFile, 'utf8');
  return content.replace(/\r?\n$/, '');
}
