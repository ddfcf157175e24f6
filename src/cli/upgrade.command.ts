/** `plinth upgrade`: migrates projects that the running server could not migrate at its start. */
import type { Command } from 'commander';
import { CommandContext } from './command-context';
import { table } from './format';

interface UpgradeAnswer {
  readonly migrated: readonly string[];
  readonly failed: readonly { readonly slug: string; readonly reason: string }[];
}

export function addUpgradeCommand(program: Command, context: CommandContext): void {
  program
    .command('upgrade')
    .description('migrate projects that the server could not migrate at its start; exit code 1 if one fails')
    .action(async () => {
      const { body } = await context.server.send<UpgradeAnswer>('POST', '/upgrade');
      context.print(body, () => textOf(body));
      if (body.failed.length > 0) context.reportFailure(`${body.failed.length} projects were not migrated`);
    });
}

function textOf({ migrated, failed }: UpgradeAnswer): string {
  if (migrated.length + failed.length === 0) return 'All projects have the current schema.\n';
  return table([
    ...migrated.map((project) => ({ project, outcome: 'migrated', reason: null })),
    ...failed.map(({ slug, reason }) => ({ project: slug, outcome: 'failed', reason })),
  ]);
}
