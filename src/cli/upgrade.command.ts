/** `plinth upgrade`: migrates projects that the running server could not migrate at its start. */
import type { Command } from 'commander';
import { dataOf, type Schema } from './admin-client';
import { CommandContext } from './command-context';
import { table } from './format';

export function addUpgradeCommand(program: Command, context: CommandContext): void {
  program
    .command('upgrade')
    .description('migrate projects that the server could not migrate at its start; exit code 1 if one fails')
    .action(async () => {
      const outcome = await dataOf(context.api.POST('/admin/v1/upgrade'));
      context.print(outcome, () => textOf(outcome));
      if (outcome.failed.length > 0)
        context.reportFailure(`${outcome.failed.length} projects were not migrated`);
    });
}

function textOf({ migrated, failed }: Schema<'UpgradeResponse'>): string {
  if (migrated.length + failed.length === 0) return 'All projects have the current schema.\n';
  return table([
    ...migrated.map((project) => ({ project, outcome: 'migrated', reason: null })),
    ...failed.map(({ slug, reason }) => ({ project: slug, outcome: 'failed', reason })),
  ]);
}
