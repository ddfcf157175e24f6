/** `plinth webhooks` and `plinth schedules`. */
import { type Command, Option } from 'commander';
import { dataOf, type Schema } from './admin-client';
import type { CommandContext } from './command-context';
import { list, table } from './format';

type CreateOptions = Omit<Schema<'CreateWebhookDto'>, 'events' | 'columns'> & {
  readonly events: string[];
  readonly columns?: string[];
};

const PROJECT = ['<project>', 'id or slug'] as const;
const WEBHOOK = ['<webhook>', 'id of the webhook'] as const;
const listed = (text: string): string[] => text.split(',').map((one) => one.trim());

export function addWebhookCommands(program: Command, context: CommandContext): void {
  const webhooks = program.command('webhooks').description('signed requests to other systems, for changes');
  const at = async (project: string, id: string): Promise<{ path: { id: string; webhook_id: string } }> => ({
    path: { id: (await context.server.findProject(project)).id, webhook_id: id },
  });
  webhooks
    .command('list')
    .description('list the webhooks of a project')
    .argument(...PROJECT)
    .action(async (project: string) => {
      const { id } = await context.server.findProject(project);
      const params = { path: { id } };
      const found = await dataOf(context.api.GET('/admin/v1/projects/{id}/webhooks', { params }));
      context.print(found, () => table(found.map(rowOf)));
    });
  webhooks
    .command('create')
    .description('create a webhook, and print its secret')
    .argument(...PROJECT)
    .addOption(new Option('--events <events>', 'separated by commas').argParser(listed).makeOptionMandatory())
    .option('--table <table>', 'for INSERT, UPDATE and DELETE')
    .option('--schema <schema>', 'of the table; default: public')
    .addOption(new Option('--columns <columns>', 'whose changes UPDATE tells').argParser(listed))
    .option('--condition <sql>', 'about new and old')
    .option('--url <url>', 'that gets the requests')
    .option('--secret <secret>', 'whsec_ and base64; default: a new one')
    .action(async (project: string, body: CreateOptions) => {
      const params = { path: { id: (await context.server.findProject(project)).id } };
      const created = await dataOf(
        context.api.POST('/admin/v1/projects/{id}/webhooks', {
          params,
          body: body as Schema<'CreateWebhookDto'>,
        }),
      );
      context.print(created, () => list(created));
    });
  webhooks
    .command('update')
    .description('change a webhook')
    .argument(...PROJECT)
    .argument(...WEBHOOK)
    .option('--url <url>', 'that gets the requests')
    .option('--enabled <boolean>', 'true or false', (text) => text === 'true')
    .action(async (project: string, id: string, body: Schema<'UpdateWebhookDto'>) => {
      const params = await at(project, id);
      const path = '/admin/v1/projects/{id}/webhooks/{webhook_id}';
      const changed = await dataOf(context.api.PATCH(path, { params, body }));
      context.print(changed, () => list(changed));
    });
  webhooks
    .command('rotate-secret')
    .description('give a webhook another secret; the old one signs too for a day')
    .argument(...PROJECT)
    .argument(...WEBHOOK)
    .option('--secret <secret>', 'whsec_ and base64; default: a new one')
    .action(async (project: string, id: string, body: Schema<'RotateWebhookSecretDto'>) => {
      const params = await at(project, id);
      const path = '/admin/v1/projects/{id}/webhooks/{webhook_id}/secret';
      const changed = await dataOf(context.api.POST(path, { params, body }));
      context.print(changed, () => list(changed));
    });
  webhooks
    .command('delete')
    .description('delete a webhook and its deliveries')
    .argument(...PROJECT)
    .argument(...WEBHOOK)
    .action(async (project: string, id: string) => {
      const params = await at(project, id);
      await dataOf(context.api.DELETE('/admin/v1/projects/{id}/webhooks/{webhook_id}', { params }));
      context.print({ deleted: id }, () => `Webhook ${id} is deleted.\n`);
    });
  webhooks
    .command('deliveries')
    .description('list the deliveries of a webhook, the newest first')
    .argument(...PROJECT)
    .argument(...WEBHOOK)
    .addOption(new Option('--state <state>').choices(['waiting', 'delivered', 'failed']))
    .option('--limit <number>', 'deliveries to list', '50')
    .action(
      async (
        project: string,
        id: string,
        { state, limit }: { state?: Schema<'DeliveryResponse'>['state']; limit: string },
      ) => {
        const params = { ...(await at(project, id)), query: { state, limit: Number(limit) } };
        const path = '/admin/v1/projects/{id}/webhooks/{webhook_id}/deliveries';
        const found = await dataOf(context.api.GET(path, { params }));
        context.print(found, () => table(found));
      },
    );
  webhooks
    .command('send-again')
    .description('send a delivery again that failed or was delivered')
    .argument(...PROJECT)
    .argument(...WEBHOOK)
    .argument('<delivery>', 'id of the delivery')
    .action(async (project: string, id: string, delivery: string) => {
      const { path } = await at(project, id);
      const params = { path: { ...path, delivery_id: delivery } };
      const route = '/admin/v1/projects/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry';
      await dataOf(context.api.POST(route, { params }));
      context.print({ queued: delivery }, () => `Delivery ${delivery} is queued.\n`);
    });
}

export function addScheduleCommands(program: Command, context: CommandContext): void {
  const schedules = program
    .command('schedules')
    .description('SQL and requests at the times of a cron expression');
  const pathOf = async (project: string): Promise<{ id: string }> => ({
    id: (await context.server.findProject(project)).id,
  });
  schedules
    .command('list')
    .description('list the schedules of a project')
    .argument(...PROJECT)
    .action(async (project: string) => {
      const params = { path: await pathOf(project) };
      const found = await dataOf(context.api.GET('/admin/v1/projects/{id}/schedules', { params }));
      context.print(found, () =>
        table(
          found.map(({ id, name, cron, time_zone, enabled }) => ({ id, name, cron, time_zone, enabled })),
        ),
      );
    });
  schedules
    .command('create')
    .description('create a schedule')
    .argument(...PROJECT)
    .requiredOption('--name <name>', 'unique in the project')
    .requiredOption('--cron <expression>', 'five fields as in crontab')
    .option('--time-zone <name>', 'such as Europe/Berlin; default: UTC')
    .option('--sql <sql>', 'runs as the owner')
    .option('--url <url>', 'gets a request, in place of SQL')
    .option('--body <json>', 'of the request')
    .action(
      async (project: string, { timeZone, ...rest }: Schema<'CreateScheduleDto'> & { timeZone?: string }) => {
        const params = { path: await pathOf(project) };
        const body = { ...rest, time_zone: timeZone };
        const created = await dataOf(context.api.POST('/admin/v1/projects/{id}/schedules', { params, body }));
        context.print(created, () => list(created));
      },
    );
  schedules
    .command('delete')
    .description('delete a schedule and its history')
    .argument(...PROJECT)
    .argument('<schedule>', 'id of the schedule')
    .action(async (project: string, id: string) => {
      const params = { path: { ...(await pathOf(project)), schedule_id: id } };
      await dataOf(context.api.DELETE('/admin/v1/projects/{id}/schedules/{schedule_id}', { params }));
      context.print({ deleted: id }, () => `Schedule ${id} is deleted.\n`);
    });
  schedules
    .command('runs')
    .description('list the runs of a schedule, the newest first')
    .argument(...PROJECT)
    .argument('<schedule>', 'id of the schedule')
    .option('--limit <number>', 'runs to list', '20')
    .action(async (project: string, id: string, { limit }: { limit: string }) => {
      const params = {
        path: { ...(await pathOf(project)), schedule_id: id },
        query: { limit: Number(limit) },
      };
      const path = '/admin/v1/projects/{id}/schedules/{schedule_id}/runs';
      const runs = await dataOf(context.api.GET(path, { params }));
      context.print(runs, () => table(runs.map(({ id: _id, ...run }) => run)));
    });
}

function rowOf({
  id,
  schema,
  table: name,
  events,
  url,
  enabled,
  failing_since,
}: Schema<'WebhookResponse'>): Record<string, unknown> {
  const source = name === null ? '' : `${String(schema)}.${name}`;
  return { id, table: source, events: events.join(), url, enabled, failing_since };
}
