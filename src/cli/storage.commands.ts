/** `plinth storage check|sweep`. */
import type { Command } from 'commander';
import { ProjectSummary } from './admin-client';
import { CommandContext } from './command-context';
import { table } from './format';

interface CheckAnswer {
  readonly objects: number;
  readonly bytes_without_row: { readonly count: number; readonly size: number };
  readonly rows_without_bytes: {
    readonly count: number;
    readonly files: readonly { readonly id: string; readonly filename: string }[];
  };
}

interface SweepAnswer extends Readonly<Record<string, unknown>> {
  readonly removed_objects: number;
  readonly removed_uploads: number;
  readonly rows_without_bytes: number;
}

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
      const checks = await forEach<CheckAnswer>(context, options, 'GET', 'check');
      context.print(checks, () => reportOf(checks));
    });
  storage
    .command('sweep')
    .description('remove objects that belong to no file, as the server does each hour')
    .option(...PROJECT)
    .action(async (options: Options) => {
      const sweeps = await forEach<SweepAnswer>(context, options, 'POST', 'sweep');
      context.print(sweeps, () => table(sweeps));
    });
}

async function forEach<T>(
  { server }: CommandContext,
  { project }: Options,
  method: string,
  action: string,
): Promise<({ project: string } & T)[]> {
  const projects: ProjectSummary[] =
    project === undefined ? await server.listProjects() : [await server.findProject(project)];
  const answers: ({ project: string } & T)[] = [];
  for (const { id, slug } of projects) {
    const { body } = await server.send<T>(method, `/projects/${id}/storage/${action}`);
    answers.push({ project: slug, ...body });
  }
  return answers;
}

function reportOf(checks: readonly ({ project: string } & CheckAnswer)[]): string {
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
