/** `plinth api-keys`. */
import { type Command, Option } from 'commander';
import { dataOf } from './admin-client';
import type { CommandContext } from './command-context';
import { list, table } from './format';

const PROJECT = ['<project>', 'id or slug'] as const;

interface CreateOptions {
  readonly kind: 'publishable' | 'secret';
  readonly role?: string;
  readonly days?: number;
}

export function addApiKeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command('api-keys').description('named keys of a project, next to its two');
  keys
    .command('list')
    .description('list the named keys of a project')
    .argument(...PROJECT)
    .action(async (project: string) => {
      const params = { path: { id: (await context.server.findProject(project)).id } };
      const found = await dataOf(context.api.GET('/admin/v1/projects/{id}/api-keys', { params }));
      context.print(found, () => table(found));
    });
  keys
    .command('create')
    .description('create a named key, and print it')
    .argument(...PROJECT)
    .argument('<name>', 'what the key is for')
    .addOption(
      new Option('--kind <kind>', 'publishable for browsers and apps, secret for servers')
        .choices(['publishable', 'secret'])
        .default('secret'),
    )
    .option('--role <role>', 'the database role; default: anon or service_role, by the kind')
    .option('--days <days>', 'days until the key expires; default: never', Number)
    .action(async (project: string, name: string, { kind, role, days }: CreateOptions) => {
      const params = { path: { id: (await context.server.findProject(project)).id } };
      const body = { name, kind, role, expires_in: days === undefined ? undefined : days * 86_400 };
      const created = await dataOf(context.api.POST('/admin/v1/projects/{id}/api-keys', { params, body }));
      context.print(created, () => list(created));
    });
  keys
    .command('revoke')
    .description('revoke a named key, which ends at once')
    .argument(...PROJECT)
    .argument('<key>', 'id of the key')
    .action(async (project: string, key: string) => {
      const { id } = await context.server.findProject(project);
      const params = { path: { id, key_id: key } };
      await dataOf(context.api.DELETE('/admin/v1/projects/{id}/api-keys/{key_id}', { params }));
      context.print({ revoked: key }, () => `Key ${key} is revoked.\n`);
    });
}
