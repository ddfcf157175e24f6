/** `plinth server` and `plinth upgrade`: PostgreSQL servers for projects' databases, and their schemas. */
import { type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { type CommandContext, table } from './command-context';
import { type Commands, operation, separated, wholeNumber } from './operation';

const COLUMNS = ['name', 'host', 'port', 'status', 'projects', 'capacity', 'reachable', 'replicas', 'pooler'];
const REPLICAS = 'standbys that serve reads, as host or host:port, separated by commas';
const POOLER = 'PgBouncer in transaction mode, as host or host:port';
const SERVER = '/admin/v1/servers/{name}';

/** The URL holds a password, so it is not an argument, which other users of the machine could see. */
export const SERVER_COMMANDS: Commands = {
  'add <name>': operation(
    'POST /admin/v1/servers',
    'add a server; its connection URL is read from standard input',
    {
      options: {
        capacity: [
          '--capacity <projects>',
          'place new projects up to this number; default: 1000',
          (option) => option.argParser(wholeNumber()),
        ],
        replicas: ['--replicas <hosts>', REPLICAS, (option) => option.argParser(separated)],
        pooler: ['--pooler <host>', POOLER],
      },
      input: async (given, _args, context) => ({ ...given, url: await readUrl(context) }),
    },
  ),
  list: operation('GET /admin/v1/servers', 'list the servers, and whether they and their replicas answer', {
    text: (servers) => table(servers.map(rowOf), COLUMNS),
  }),
  'update <name>': operation(
    `PATCH ${SERVER}`,
    'change the capacity of a server, its replicas, or its connection URL',
    {
      options: {
        capacity: [
          '--capacity <projects>',
          'place new projects up to this number',
          (option) => option.argParser(wholeNumber()),
        ],
        url: ['--url', 'read a new connection URL of the same server from standard input'],
        replicas: [
          '--replicas <hosts>',
          `${REPLICAS}; they take the place of the former ones`,
          (option) => option.argParser(separated),
        ],
        '-no-replicas': ['--no-replicas', 'read from no replica'],
        pooler: ['--pooler <host>', POOLER],
        '-no-pooler': ['--no-pooler', 'connect to the server itself'],
      },
      input: async ({ capacity, replicas, pooler, url: isGiven }, _args, context) => {
        if ([capacity, replicas, pooler, isGiven].every((value) => value === undefined))
          throw new CliError('Nothing to change: give --capacity, --replicas, --pooler or --url', EXIT.usage);
        return {
          capacity,
          url: isGiven ? await readUrl(context) : undefined,
          replicas: replicas === false ? [] : replicas,
          pooler: pooler === false ? null : pooler,
        };
      },
    },
  ),
  'drain <name>': operation(`PATCH ${SERVER}`, 'place no more projects on a server', {
    input: () => ({ status: 'draining' }),
  }),
  'open <name>': operation(`PATCH ${SERVER}`, 'place projects on a server again', {
    input: () => ({ status: 'open' }),
  }),
  'remove <name>': operation(`DELETE ${SERVER}`, 'remove a server without projects', {
    text: (_answer, { name }) => `Server "${name}" is removed.\n`,
  }),
};

/** Migrates projects that the running server could not migrate at its start. */
export const UPGRADE_COMMAND: Commands = {
  upgrade: operation(
    'POST /admin/v1/upgrade',
    'migrate projects that the server could not migrate at its start; exit code 1 if one fails',
    {
      text: ({ migrated, failed }) =>
        migrated.length + failed.length === 0
          ? 'All projects have the current schema.\n'
          : table([
              ...migrated.map((project) => ({ project, outcome: 'migrated', reason: null })),
              ...failed.map(({ slug, reason }) => ({ project: slug, outcome: 'failed', reason })),
            ]),
      after: ({ failed }, context) => {
        if (failed.length > 0) context.reportFailure(`${failed.length} projects were not migrated`);
      },
    },
  ),
};

/** For the table: how many of the replicas can be read. */
function rowOf(server: Schema<'DatabaseServerResponse'>): Readonly<Record<string, unknown>> {
  const { length } = server.replicas;
  const up = server.replicas.filter(({ reachable }) => reachable).length;
  return { ...server, replicas: length === 0 ? '' : `${up} of ${length} up` };
}

async function readUrl(context: CommandContext): Promise<string> {
  const url = (await context.environment.readStdin()).trim();
  if (url === '') throw new CliError('Write the connection URL to standard input', EXIT.usage);
  return url;
}
