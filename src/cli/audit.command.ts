/** `plinth audit`. */
import type { Command } from 'commander';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { table } from './format';

const COLUMNS = ['at', 'actor', 'address', 'action', 'project_id', 'details'];

export function addAuditCommand(program: Command, context: CommandContext): void {
  program
    .command('audit')
    .description('show changes and their authors, newest first')
    .option('--project <project>', 'only this project, by id or slug; by id after its deletion')
    .option('--action <action>', 'only this action, such as project.create')
    .option('--limit <entries>', 'number of entries', '50')
    .action(async (options: { project?: string; action?: string; limit: string }) => {
      const query = new URLSearchParams({ limit: options.limit });
      if (options.action) query.set('action', options.action);
      if (options.project) query.set('project_id', await projectId(context, options.project));
      const { body } = await context.server.send<Record<string, unknown>[]>(
        'GET',
        `/audit-log?${query.toString()}`,
      );
      context.print(body, () => table(body, COLUMNS));
    });
}

/** A deleted project has no slug any more, but its entries stay. */
async function projectId(context: CommandContext, name: string): Promise<string> {
  try {
    return (await context.server.findProject(name)).id;
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return name;
    throw error;
  }
}
