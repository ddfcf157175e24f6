/** `plinth project database|sql|tables`. */
import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from './cli-error';
import { CommandContext } from './command-context';
import { list, table } from './format';

interface SqlAnswer {
  readonly rows: readonly Record<string, unknown>[];
  readonly row_count: number | null;
  readonly command: string | null;
  readonly truncated: boolean;
  readonly notices: readonly string[];
}

export function addProjectDatabaseCommands(project: Command, context: CommandContext): void {
  project
    .command('database <project>')
    .description("show the owner's connection to the database, for psql and migration tools")
    .action(async (name: string) => {
      const { id } = await context.server.findProject(name);
      const { body } = await context.server.send<Record<string, unknown>>('GET', `/projects/${id}/database`);
      context.print(body, () => list(body));
    });

  project
    .command('sql <project> [query]')
    .description('run SQL as the owner in one transaction; without a query it is read from standard input')
    .option('-f, --file <path>', 'read the SQL from a file')
    .action(async (name: string, given: string | undefined, { file }: { file?: string }) => {
      const query = await sqlOf(context, given, file);
      const { id } = await context.server.findProject(name);
      const { body } = await context.server
        .send<SqlAnswer>('POST', `/projects/${id}/sql`, { query })
        .catch((error: unknown) => {
          throw located(error, file);
        });
      for (const notice of body.notices) context.remark(notice);
      if (body.truncated) context.remark('There are more rows than shown here.');
      context.print(body, () => textOf(body));
    });

  project
    .command('tables <project>')
    .description('list tables with row-level security on or off')
    .action(async (name: string) => {
      const { id } = await context.server.findProject(name);
      const { body } = await context.server.send<{ open: boolean }[]>('GET', `/projects/${id}/tables`);
      const open = body.filter((one) => one.open).length;
      context.print(body, () => table(body));
      if (open > 0) context.remark(`${open} of them can be accessed with the anon key.`);
    });
}

async function sqlOf(
  context: CommandContext,
  given: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (given !== undefined && file !== undefined)
    throw new CliError('Give a query or --file, not both', EXIT.usage);
  const query = given ?? (file === undefined ? await context.readStdin() : await readFile(file, 'utf8'));
  if (query.trim() === '') throw new CliError('There is no SQL to run', EXIT.usage);
  return query;
}

/** Prefixes the message with the location: `schema.sql:3:8: ...`, which editors and terminals link, or `line 3, column 8: ...`. */
function located(error: unknown, file: string | undefined): unknown {
  if (!(error instanceof CliError)) return error;
  const location = error.answer?.database?.location;
  if (!location) return error;
  const { line, column } = location;
  const place = file === undefined ? `line ${line}, column ${column}` : `${file}:${line}:${column}`;
  return new CliError(`${place}: ${error.message}`, error.exitCode, error.answer);
}

function textOf({ rows, command, row_count: count }: SqlAnswer): string {
  if (rows.length > 0) return table(rows);
  return `${command ?? 'Done'}${count === null ? '' : ` ${count}`}\n`;
}
