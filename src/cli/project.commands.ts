/** `plinth project create|list|show|update|pause|resume|delete|keys|rotate-keys`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { JsonObject, JsonValue } from '../common/text/json';
import { type Plan, PLANS } from '../projects/plans';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list, table } from './format';

interface ChangeOptions {
  readonly name?: string;
  readonly plan?: Plan;
  readonly set?: Schema<'ProjectSettingsInput'>;
}

interface CreateOptions extends ChangeOptions {
  readonly slug?: string;
  readonly generateSlug?: boolean;
  readonly databaseUrl?: string;
  readonly server?: string;
}

const LIST_COLUMNS = ['slug', 'name', 'plan', 'server', 'id', 'created_at'];

const planOption = (): Option => new Option('--plan <plan>', 'plan of the project').choices(PLANS);
const settingOption = (): Option =>
  new Option(
    '--set <setting=value...>',
    'a setting, its value as JSON or plain text; null resets it',
  ).argParser(collectSetting);

export function addProjectCommands(project: Command, context: CommandContext): void {
  addCreate(project, context);
  addList(project, context);
  addShow(project, context);
  addUpdate(project, context);
  addPause(project, context);
  addDelete(project, context);
  addKeys(project, context);
}

function addCreate(project: Command, context: CommandContext): void {
  project
    .command('create <name>')
    .description('create a project and its database')
    .option('--slug <slug>', 'its name in URLs; default: derived from the name')
    .addOption(new Option('--generate-slug', 'generate a slug if the derived one is taken').conflicts('slug'))
    .option('--database-url <url>', 'another PostgreSQL server for its database')
    .option('--server <name>', 'a server of the installation; default: the one with the most room')
    .addOption(planOption())
    .addOption(settingOption())
    .action(async (name: string, options: CreateOptions) => {
      const { set: settings, databaseUrl: database_url, server, slug, generateSlug, plan } = options;
      const body = { name, slug: generateSlug ? null : slug, plan, settings, database_url, server };
      const created = await dataOf(context.api.POST('/admin/v1/projects', { body })).catch(withOptions);
      context.print(created, () => list(withoutSettings(created)));
    });
}

/** A taken slug, with the options that choose another one. */
function withOptions(error: unknown): never {
  if (!(error instanceof CliError) || error.answer?.code !== 'project_already_exists') throw error;
  throw new CliError(`${error.message} (--slug, --generate-slug)`, error.exitCode, error.answer);
}

function addList(project: Command, context: CommandContext): void {
  project
    .command('list')
    .description('list all projects')
    .option('--search <text>', 'part of the name or slug')
    .action(async ({ search }: { search?: string }) => {
      const all = await context.server.listProjects(search);
      context.print(all, () => table(all, LIST_COLUMNS));
    });
}

function addShow(project: Command, context: CommandContext): void {
  project
    .command('show <project>')
    .description('show a project, by id or slug, with its settings')
    .action(async (name: string) => {
      const { id } = await context.server.findProject(name);
      const params = { path: { id } };
      printProject(context, await dataOf(context.api.GET('/admin/v1/projects/{id}', { params })));
    });
}

function addUpdate(project: Command, context: CommandContext): void {
  project
    .command('update <project>')
    .description('change name, plan or settings; takes effect with the next request')
    .option('--name <name>', 'display name')
    .addOption(planOption())
    .addOption(settingOption())
    .action(async (name: string, { set: settings, ...rest }: ChangeOptions) => {
      const change = { ...rest, settings };
      if (Object.values(change).every((value) => value === undefined)) {
        throw new CliError('Nothing to change: give --name, --plan or --set', EXIT.usage);
      }
      const { id } = await context.server.findProject(name);
      const init = { params: { path: { id } }, body: change };
      printProject(context, await dataOf(context.api.PATCH('/admin/v1/projects/{id}', init)));
    });
}

function addPause(project: Command, context: CommandContext): void {
  const add = (action: 'pause' | 'resume', description: string, outcome: string): void => {
    project
      .command(`${action} <project>`)
      .description(description)
      .action(async (name: string) => {
        const { id, slug } = await context.server.findProject(name);
        const params = { path: { id } };
        const changed = await dataOf(context.api.POST(`/admin/v1/projects/{id}/${action}`, { params }));
        context.print(changed, () => `Project "${slug}" ${outcome}.\n`);
      });
  };
  add('pause', 'pause a project: its API answers 503 until it is resumed', 'is paused');
  add('resume', 'resume a paused project', 'serves requests again');
}

function addDelete(project: Command, context: CommandContext): void {
  project
    .command('delete <project>')
    .description('delete a project with its database, its users and its files')
    .option('--yes', 'confirm the deletion')
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { id, slug } = await context.server.findProject(name);
      if (!yes) throw new CliError(`This deletes "${slug}" and all its data; add --yes to do it`, EXIT.usage);
      const params = { path: { id } };
      const outcome = await dataOf(context.api.DELETE('/admin/v1/projects/{id}', { params }));
      context.print(outcome, () =>
        outcome.deleted
          ? `Project "${slug}" is deleted.\n`
          : `Project "${slug}" is gone; its database is being dropped.\n`,
      );
    });
}

function addKeys(project: Command, context: CommandContext): void {
  project
    .command('keys <project>')
    .description('show the keys of a project and the secret that signs them')
    .action(async (name: string) => {
      const { id } = await context.server.findProject(name);
      const params = { path: { id } };
      const keys = await dataOf(context.api.GET('/admin/v1/projects/{id}/keys', { params }));
      context.print(keys, () => list({ project_id: id, ...keys }));
    });
  project
    .command('rotate-keys <project>')
    .description('create new keys and secrets; the old ones, and S3 keys, stay valid for the grace period')
    .option(
      '--grace <seconds>',
      'how long old keys, tokens and storage addresses stay valid; default: a day',
      wholeNumber,
    )
    .option('--only-signing', "rotate only the key pair that signs users' tokens; all else stays")
    .action(async (name: string, { grace, onlySigning }: { grace?: number; onlySigning?: true }) => {
      const { id } = await context.server.findProject(name);
      const only = onlySigning ? ('signing_keys' as const) : undefined;
      const init = { params: { path: { id } }, body: { grace_seconds: grace, only } };
      const keys = await dataOf(context.api.POST('/admin/v1/projects/{id}/keys/rotate', init));
      context.print(keys, () => list({ project_id: id, ...keys }));
    });
}

function printProject(context: CommandContext, project: Schema<'ProjectResponse'>): void {
  context.print(project, () => `${list(withoutSettings(project))}\n${list(project.settings)}`);
}

function withoutSettings({ settings: _settings, ...rest }: { settings: object }): Record<string, unknown> {
  return rest;
}

/** `max_rows=100`, `exposed_schemas=["public","api"]`, `locale=de`, `pre_request=null`. */
function collectSetting(text: string, before: JsonObject = {}): JsonObject {
  const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError('It has the form setting=value.');
  return { ...before, [name]: jsonOrText(value) };
}

function jsonOrText(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
