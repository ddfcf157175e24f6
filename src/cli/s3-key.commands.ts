/** `plinth s3-keys`. */
import type { Command } from 'commander';
import { dataOf } from './admin-client';
import type { CommandContext } from './command-context';
import { list, table } from './format';

const PROJECT = ['<project>', 'id or slug'] as const;

interface CreateOptions {
  readonly name?: string;
  readonly user?: string;
  readonly bucket?: string;
  readonly readOnly?: boolean;
}

export function addS3KeyCommands(program: Command, context: CommandContext): void {
  const keys = program.command('s3-keys').description('access keys for tools that speak S3');
  keys
    .command('list')
    .description('list the S3 keys of a project')
    .argument(...PROJECT)
    .action(async (project: string) => {
      const params = { path: { id: (await context.server.findProject(project)).id } };
      const found = await dataOf(context.api.GET('/admin/v1/projects/{id}/s3-keys', { params }));
      context.print(found, () => table(found));
    });
  keys
    .command('create')
    .description('create an S3 key, and print its secret')
    .argument(...PROJECT)
    .option('--name <name>', 'what the key is for')
    .option('--user <id>', 'whose rights requests have; default: those of the service-role key')
    .option('--bucket <bucket>', 'the only bucket that the key reaches; default: all')
    .option('--read-only', 'the key may only read')
    .action(async (project: string, { name, user, bucket, readOnly }: CreateOptions) => {
      const params = { path: { id: (await context.server.findProject(project)).id } };
      const body = { name, user_id: user, bucket, read_only: readOnly };
      const created = await dataOf(context.api.POST('/admin/v1/projects/{id}/s3-keys', { params, body }));
      context.print(created, () => list(created));
    });
  keys
    .command('delete')
    .description('delete an S3 key, which ends at once')
    .argument(...PROJECT)
    .argument('<key>', 'access key id')
    .action(async (project: string, key: string) => {
      const { id } = await context.server.findProject(project);
      const params = { path: { id, access_key_id: key } };
      await dataOf(context.api.DELETE('/admin/v1/projects/{id}/s3-keys/{access_key_id}', { params }));
      context.print({ deleted: key }, () => `S3 key ${key} is deleted.\n`);
    });
}
