/** `plinth project`: projects, their keys and databases. */
import { InvalidArgumentError, type Option } from 'commander';
import { JsonObject, JsonValue } from '../common/text/json';
import { PLANS } from '../projects/plans';
import { CliError, EXIT } from './cli-error';
import { list, table } from './command-context';
import { type Commands, operation, wholeNumber } from './operation';

const PROJECT = '/admin/v1/projects/{id}';
const LIST_COLUMNS = ['slug', 'name', 'plan', 'server', 'id', 'created_at'];

const PLAN_AND_SETTINGS = {
  plan: ['--plan <plan>', 'plan of the project', (option: Option) => option.choices(PLANS)],
  settings: [
    '--set <setting=value...>',
    'a setting, its value as JSON or plain text; null resets it',
    (option: Option) => option.argParser(collectSetting),
  ],
} as const;

export const PROJECT_COMMANDS: Commands = {
  'create <name>': operation('POST /admin/v1/projects', 'create a project and its database', {
    options: {
      slug: ['--slug <slug>', 'its name in URLs; default: derived from the name'],
      '-generate': [
        '--generate-slug',
        'generate a slug if the derived one is taken',
        (option) => option.conflicts('slug'),
      ],
      database_url: ['--database-url <url>', 'another PostgreSQL server for its database'],
      server: ['--server <name>', 'a server of the installation; default: the one with the most room'],
      ...PLAN_AND_SETTINGS,
    },
    input: ({ '-generate': isGenerated, ...rest }) => ({ ...rest, ...(isGenerated ? { slug: null } : {}) }),
    text: (project) => list(withoutSettings(project)),
    failure: withOptions,
  }),
  list: (parent, usage, context) => {
    parent
      .command(usage)
      .description('list all projects')
      .option('--search <text>', 'part of the name or slug')
      .action(async ({ search }: { search?: string }) => {
        const all = await context.server.listProjects(search);
        context.print(all, () => table(all, LIST_COLUMNS));
      });
  },
  'show <project>': operation(`GET ${PROJECT}`, 'show a project, by id or slug, with its settings', {
    text: withSettings,
  }),
  'update <project>': operation(
    `PATCH ${PROJECT}`,
    'change name, plan or settings; takes effect with the next request',
    {
      options: { name: ['--name <name>', 'display name'], ...PLAN_AND_SETTINGS },
      input: (given) => {
        if (Object.keys(given).length > 0) return given;
        throw new CliError('Nothing to change: give --name, --plan or --set', EXIT.usage);
      },
      text: withSettings,
    },
  ),
  'pause <project>': operation(
    `POST ${PROJECT}/pause`,
    'pause a project: its API answers 503 until it is resumed',
    { text: (_answer, { project }) => `Project "${project}" is paused.\n` },
  ),
  'resume <project>': operation(`POST ${PROJECT}/resume`, 'resume a paused project', {
    text: (_answer, { project }) => `Project "${project}" serves requests again.\n`,
  }),
  'delete <project>': operation(
    `DELETE ${PROJECT}`,
    'delete a project with its database, its users and its files',
    {
      options: { '-yes': ['--yes', 'confirm the deletion'] },
      input: ({ '-yes': isConfirmed }, { project }) => {
        if (isConfirmed) return {};
        throw new CliError(`This deletes "${project}" and all its data; add --yes to do it`, EXIT.usage);
      },
      text: ({ deleted }, { project }) =>
        deleted
          ? `Project "${project}" is deleted.\n`
          : `Project "${project}" was deleted; its database is being dropped.\n`,
    },
  ),
  'keys <project>': operation(
    `GET ${PROJECT}/keys`,
    'show the keys of a project and the secret that signs them',
    { text: (keys, { id }) => list({ project_id: id, ...keys }) },
  ),
  'rotate-keys <project>': operation(
    `POST ${PROJECT}/keys/rotate`,
    'create new keys and secrets; the old ones stay valid for the grace period',
    {
      options: {
        grace_seconds: [
          '--grace <seconds>',
          'how long old keys, tokens and storage addresses stay valid; default: a day',
          (option) => option.argParser(wholeNumber()),
        ],
        only: [
          '--only-signing',
          "rotate only the key pair that signs users' tokens; all else stays",
          (option) => option.preset('signing_keys'),
        ],
        end_named_keys: [
          '--end-named-keys',
          'S3 keys and named keys end with the grace period, too, as after a leak',
        ],
      },
      text: (keys, { id }) => list({ project_id: id, ...keys }),
    },
  ),
  'database <project>': operation(
    `GET ${PROJECT}/database`,
    "show the owner's connection to the database, for psql and migration tools",
  ),
  'tables <project>': operation(`GET ${PROJECT}/tables`, 'list tables with row-level security on or off', {
    after: (tables, context) => {
      const open = tables.filter((one) => one.open).length;
      if (open > 0) context.remark(`${open} of them can be accessed with the anon key.`);
    },
  }),
};

/** The error for a taken slug, with the options that choose another slug. */
function withOptions(error: unknown): unknown {
  if (!(error instanceof CliError) || error.answer?.code !== 'project_already_exists') return error;
  return new CliError(`${error.message} (--slug, --generate-slug)`, error.exitCode, error.answer);
}

function withSettings(project: { readonly settings: object }): string {
  return `${list(withoutSettings(project))}\n${list(project.settings as Record<string, unknown>)}`;
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
