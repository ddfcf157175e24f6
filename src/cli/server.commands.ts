/** `plinth server add|list|drain|open|update|remove`: PostgreSQL servers for projects' databases. */
import { Command, InvalidArgumentError } from 'commander';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list, table } from './format';

interface ServerOptions {
  readonly capacity?: number;
  readonly url?: boolean;
  /** False: none. */
  readonly replicas?: string[] | false;
  readonly pooler?: string | false;
}

const COLUMNS = ['name', 'host', 'port', 'status', 'projects', 'capacity', 'reachable', 'replicas', 'pooler'];

const REPLICAS = 'standbys that serve reads, as host or host:port, separated by commas';
const POOLER = 'PgBouncer in transaction mode, as host or host:port';

export function addServerCommands(program: Command, context: CommandContext): void {
  const server = program.command('server').description("PostgreSQL servers for projects' databases");
  addAdd(server, context);
  server
    .command('list')
    .description('list the servers, and whether they and their replicas answer')
    .action(async () => {
      const servers = await dataOf(context.api.GET('/admin/v1/servers'));
      context.print(servers, () => table(servers.map(rowOf), COLUMNS));
    });
  addUpdate(server, context);
  addStatus(server, context, {
    name: 'drain',
    status: 'draining',
    does: 'place no more projects on a server',
  });
  addStatus(server, context, { name: 'open', status: 'open', does: 'place projects on a server again' });
  server
    .command('remove <name>')
    .description('remove a server without projects')
    .action(async (name: string) => {
      const removed = await dataOf(
        context.api.DELETE('/admin/v1/servers/{name}', { params: { path: { name } } }),
      );
      context.print(removed, () => `Server "${name}" is removed.\n`);
    });
}

/** The URL holds a password, so it is no argument: other users of the machine see those. */
function addAdd(server: Command, context: CommandContext): void {
  server
    .command('add <name>')
    .description('add a server; its connection URL is read from standard input')
    .option('--capacity <projects>', 'place new projects up to this number; default: 1000', wholeNumber)
    .option('--replicas <hosts>', REPLICAS, hostList)
    .option('--pooler <host>', POOLER)
    .action(async (name: string, { capacity, replicas, pooler }: ServerOptions) => {
      const body = {
        name,
        url: await readUrl(context),
        capacity,
        replicas: replicas || undefined,
        pooler: pooler || undefined,
      };
      const added = await dataOf(context.api.POST('/admin/v1/servers', { body }));
      context.print(added, () => list(added));
    });
}

function addUpdate(server: Command, context: CommandContext): void {
  server
    .command('update <name>')
    .description('change the capacity of a server, its replicas, or its connection URL')
    .option('--capacity <projects>', 'place new projects up to this number', wholeNumber)
    .option('--url', 'read a new connection URL of the same server from standard input')
    .option('--replicas <hosts>', `${REPLICAS}; they take the place of the former ones`, hostList)
    .option('--no-replicas', 'read from no replica')
    .option('--pooler <host>', POOLER)
    .option('--no-pooler', 'connect to the server itself')
    .action(async (name: string, { url: isGiven, ...given }: ServerOptions) => {
      const { capacity, replicas, pooler } = given;
      if (!isGiven && Object.keys(given).length === 0)
        throw new CliError('Nothing to change: give --capacity, --replicas, --pooler or --url', EXIT.usage);
      const url = isGiven ? await readUrl(context) : undefined;
      const lists = {
        replicas: replicas === false ? [] : replicas,
        pooler: pooler === false ? null : pooler,
      };
      await change(context, name, { capacity, url, ...lists });
    });
}

function addStatus(
  server: Command,
  context: CommandContext,
  { name: command, status, does }: { name: string; status: 'open' | 'draining'; does: string },
): void {
  server
    .command(`${command} <name>`)
    .description(does)
    .action((name: string) => change(context, name, { status }));
}

async function change(context: CommandContext, name: string, body: Schema<'UpdateServerDto'>): Promise<void> {
  const init = { params: { path: { name } }, body };
  const server = await dataOf(context.api.PATCH('/admin/v1/servers/{name}', init));
  context.print(server, () => list(server));
}

/** For the table: how many of the replicas can be read. */
function rowOf(server: Schema<'DatabaseServerResponse'>): Readonly<Record<string, unknown>> {
  const { length } = server.replicas;
  const up = server.replicas.filter(({ reachable }) => reachable).length;
  return { ...server, replicas: length === 0 ? '' : `${up} of ${length} up` };
}

async function readUrl(context: CommandContext): Promise<string> {
  const url = (await context.readStdin()).trim();
  if (url === '') throw new CliError('Write the connection URL to standard input', EXIT.usage);
  return url;
}

function hostList(text: string): string[] {
  return text.split(',').map((host) => host.trim());
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
