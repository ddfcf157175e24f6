/** `plinth import supabase`: a project of Supabase, with its schema, rows, users and files. */
import { type Command, Option } from 'commander';
import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from './cli-error';
import { type CommandContext, list, table } from './command-context';
import { storageAt, storageIn, type FileSource } from './supabase/files';
import { importSupabase, type ImportReport } from './supabase/import';

interface Options {
  readonly project: string;
  readonly storageUrl?: string;
  readonly serviceKeyFile?: string;
  readonly files?: string;
  readonly existing: 'skip' | 'update';
  readonly dryRun?: boolean;
}

export function addImportCommands(program: Command, context: CommandContext): void {
  program
    .command('import')
    .description('import a project of another system')
    .command('supabase <url>')
    .description(
      'copy schema, policies, rows, users and files of a Supabase database (postgresql://...); repeated runs continue',
    )
    .requiredOption('--project <project>', 'into which it is imported; it is created if there is none')
    .option('--storage-url <url>', 'address of the old project, for its files')
    .option('--service-key-file <path>', 'file with its service-role key')
    .option('--files <folder>', 'its files, in place of --storage-url')
    .addOption(
      new Option('--existing <what>', 'what happens to users that exist: they stay, or get the old values')
        .choices(['skip', 'update'])
        .default('skip'),
    )
    .option('--dry-run', 'change nothing, and say what will differ')
    .action(async (url: string, options: Options) => {
      const files = await fileSourceOf(options);
      const { project, existing, dryRun = false } = options;
      const report = await importSupabase(context, { url, project, files, existing, isRehearsal: dryRun });
      context.print(report, () => textOf(report));
      if (report.failed.length > 0)
        context.reportFailure(`${report.failed.length} objects were not imported`);
    });
}

async function fileSourceOf({ storageUrl, serviceKeyFile, files }: Options): Promise<FileSource | null> {
  if (files !== undefined) return storageIn(files);
  if (storageUrl === undefined) return null;
  if (serviceKeyFile === undefined) throw new CliError('--storage-url needs --service-key-file', EXIT.usage);
  return storageAt(storageUrl, (await readFile(serviceKeyFile, 'utf8')).trim());
}

function textOf({ failed, differs, ...counts }: ImportReport): string {
  const parts = [list(counts)];
  if (differs.length > 0) parts.push(`\nDiffers:\n${table(differs)}`);
  if (failed.length > 0) parts.push(`\nNot imported:\n${table(failed)}`);
  return parts.join('');
}
