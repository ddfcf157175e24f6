/** `plinth project sql`. */
import type { Command } from 'commander';
import { readFile } from 'node:fs/promises';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { CommandContext, table } from './command-context';

export function addSqlCommand(project: Command, context: CommandContext): void {
  project
    .command('sql <project> [query]')
    .description('run SQL as the owner in one transaction; without a query it is read from standard input')
    .option('-f, --file <path>', 'read the SQL from a file')
    .action(async (name: string, given: string | undefined, { file }: { file?: string }) => {
      const query = await sqlOf(context, given, file);
      const { id } = await context.server.findProject(name);
      const run = (body: Schema<'SqlDto'>): Promise<string> => {
        const init = { params: { path: { id } }, body, parseAs: 'text' } as const;
        return dataOf(context.api.POST('/admin/v1/projects/{id}/sql', init)).catch((error: unknown) => {
          throw located(error, file);
        });
      };
      // Not parsed: JavaScript would round large numbers.
      if (context.isJson) return context.environment.out(`${await run({ query })}\n`);
      const result = JSON.parse(await run({ query, text_values: true })) as Schema<'SqlResponse'>;
      for (const notice of result.notices) context.remark(notice);
      if (result.truncated) context.remark('There are more rows than shown here.');
      context.environment.out(textOf(result));
    });
}

async function sqlOf(
  context: CommandContext,
  given: string | undefined,
  file: string | undefined,
): Promise<string> {
  if (given !== undefined && file !== undefined)
    throw new CliError('Use a query or --file, not both', EXIT.usage);
  const query =
    given ?? (file === undefined ? await context.environment.readStdin() : await readFile(file, 'utf8'));
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

function textOf({ rows, statements, command, row_count: count }: Schema<'SqlResponse'>): string {
  if (rows.length > 0) return table(rows, statements.at(-1)?.columns);
  return `${command ?? 'Done'}${count === null ? '' : ` ${count}`}\n`;
}
