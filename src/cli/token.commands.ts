/** `plinth token list|create|delete`: personal access tokens. */
import { Command, Option } from 'commander';
import { dataOf } from './admin-client';
import { CommandContext } from './command-context';
import { list, table } from './format';
import { wholeNumber } from './staff.commands';

const DAY_SECONDS = 86_400;
const SCOPES = ['read', 'write', 'sql', 'admin'] as const;
const COLUMNS = ['id', 'name', 'scopes', 'project_id', 'expires_at', 'last_used_at'];

interface CreateOptions {
  readonly scope: (typeof SCOPES)[number][];
  readonly project?: string;
  readonly days: number;
}

export function addTokenCommands(program: Command, context: CommandContext): void {
  const token = program.command('token').description('your personal access tokens');
  token
    .command('list')
    .description('list your tokens, the newest first')
    .action(async () => {
      const tokens = await dataOf(context.api.GET('/admin/v1/tokens'));
      context.print(tokens, () => table(tokens, COLUMNS));
    });
  token
    .command('create <name>')
    .description('create a token, and print it once')
    .addOption(new Option('--scope <scopes...>', 'what it may do').choices(SCOPES).makeOptionMandatory())
    .option('--project <project>', 'only this project, by id or slug')
    .option('--days <days>', 'days until it expires', wholeNumber(1, 366), 30)
    .action(async (name: string, { scope, project, days }: CreateOptions) => {
      const projectId = project === undefined ? null : (await context.server.findProject(project)).id;
      const body = { name, scopes: scope, project_id: projectId, expires_in: days * DAY_SECONDS };
      const created = await dataOf(context.api.POST('/admin/v1/tokens', { body }));
      context.print(created, () => list(created));
    });
  token
    .command('delete <id>')
    .description('delete a token')
    .action(async (id: string) => {
      await context.api.DELETE('/admin/v1/tokens/{id}', { params: { path: { id } } });
      context.print({ id, deleted: true }, () => `Deleted the token ${id}\n`);
    });
}
