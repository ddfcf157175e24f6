/** `plinth project move <project> --server <name>`: moves a project's database to another server of the installation. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { dataOf } from './admin-client';
import { CommandContext, list } from './command-context';
import { sizeOf } from './progress';

interface MoveOptions {
  readonly server: string;
  readonly readOnlyWindow?: boolean;
  readonly keep?: boolean;
}

const POLL_MS = 500;

export function addMoveCommand(project: Command, context: CommandContext): void {
  project
    .command('move <project>')
    .description('move the database of a project to another server, and wait for the end')
    .requiredOption('--server <name>', 'where to')
    .option('--read-only-window', 'accept that writes are refused for longer than five seconds')
    .option('--keep', 'keep the old database on its server, closed')
    .action(async (name: string, { server, readOnlyWindow, keep }: MoveOptions) => {
      const { id, slug } = await context.server.findProject(name);
      const path = '/admin/v1/projects/{id}/move';
      const params = { path: { id } };
      const body = { server, read_only_window: readOnlyWindow, keep };
      let move = await dataOf(context.api.POST(path, { params, body }));
      let shown = '';
      while (move.status !== 'done' && move.status !== 'failed') {
        if (move.step !== shown) context.remark(`${move.step} (${sizeOf(move.bytes_copied)} copied)`);
        shown = move.step;
        await sleep(POLL_MS);
        move = await dataOf(context.api.GET(path, { params }));
      }
      const outcome = move;
      context.print(outcome, () => list(outcome));
      if (outcome.status === 'failed')
        context.reportFailure(`"${slug}" was not moved: ${outcome.error ?? 'the move failed'}`);
    });
}
