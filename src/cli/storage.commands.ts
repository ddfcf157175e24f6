/** `plinth storage check|sweep`. */
import type { Command } from 'commander';
import { dataOf, type ProjectSummary, type Schema } from './admin-client';
import { CommandContext, table } from './command-context';

interface Options {
  readonly project?: string;
}

const PROJECT = ['--project <project>', 'only this project, by id or slug'] as const;

export function addStorageCommands(program: Command, context: CommandContext): void {
  const storage = program.command('storage').description('files and their bytes');
  storage
    .command('check')
    .description('compare files with their bytes; changes nothing')
    .option(...PROJECT)
    .action(async (options: Options) => {
      const checks = await forEach(context, options, (id) =>
        dataOf(context.api.GET('/admin/v1/projects/{id}/storage/check', { params: { path: { id } } })),
      );
      context.print(checks, () => reportOf(checks));
    });
  storage
    .command('sweep')
    .description('remove objects that belong to no file, as the server does each hour')
    .option(...PROJECT)
    .action(async (options: Options) => {
      const sweeps = await forEach(context, options, (id) =>
        dataOf(context.api.POST('/admin/v1/projects/{id}/storage/sweep', { params: { path: { id } } })),
      );
      context.print(sweeps, () => table(sweeps));
    });
}

async function forEach<T>(
  { server }: CommandContext,
  { project }: Options,
  run: (projectId: string) => Promise<T>,
): Promise<({ project: string } & T)[]> {
  const projects: ProjectSummary[] =
    project === undefined ? await server.listProjects() : [await server.findProject(project)];
  const answers: ({ project: string } & T)[] = [];
  for (const { id, slug } of projects) {
    answers.push({ project: slug, ...(await run(id)) });
  }
  return answers;
}

function reportOf(checks: readonly ({ project: string } & Schema<'StorageCheck'>)[]): string {
  const overview = checks.map(({ project, objects, bytes_without_row, rows_without_bytes }) => ({
    project,
    objects,
    bytes_without_row: bytes_without_row.count,
    size: bytes_without_row.size,
    rows_without_bytes: rows_without_bytes.count,
  }));
  const lost = checks.flatMap(({ project, rows_without_bytes: { files } }) =>
    files.map((file) => ({ project, file: file.id, filename: file.filename })),
  );
  return lost.length === 0 ? table(overview) : `${table(overview)}\nFiles without bytes:\n${table(lost)}`;
}
