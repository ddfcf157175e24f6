/** `plinth users import`: users of another system, with the hashes of their passwords. */
import { type Command, Option } from 'commander';
import type { JsonObject } from '../common/text/json';
import { dataOf, type Schema } from './admin-client';
import { CliError, EXIT } from './cli-error';
import { type CommandContext, list } from './command-context';
import { auth0Hash, firebaseParameters, FormatOptions, FORMATS } from './user-formats';
import { rowsOf, textOf } from './user-rows';

/** Users and characters of one request. */
const MAX_USERS = 5_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_ERRORS = 100;

interface Options {
  readonly from: string;
  readonly existing: 'skip' | 'update';
  readonly firebaseHash?: string;
  readonly passwords?: string;
}

type Report = Schema<'UserImportResponse'>;

export function addUserCommands(program: Command, context: CommandContext): void {
  program
    .command('users')
    .description("a project's users")
    .command('import <project> <file>')
    .description('import users of another system from CSV, JSON or JSON Lines (`-`: standard input)')
    .addOption(
      new Option('--from <system>', 'the system that exported the file')
        .choices(Object.keys(FORMATS))
        .default('plinth'),
    )
    .addOption(
      new Option('--existing <what>', 'what happens to users that exist: they stay, or get the new values')
        .choices(['skip', 'update'])
        .default('skip'),
    )
    .option('--firebase-hash <file>', "the block hash_config of Firebase's console")
    .option('--passwords <file>', "Auth0's export of password hashes")
    .action(async (project: string, file: string, options: Options) => {
      const { id } = await context.server.findProject(project);
      const text = file === '-' ? await context.environment.readStdin() : await textOf(file);
      const users = rowsOf(file, text);
      const report = await importUsers(
        context,
        id,
        converted(users, options.from, await optionsOf(options)),
        {
          existing: options.existing,
        },
      );
      context.print(report, () => list(summaryOf(report)));
      for (const { line, message } of report.errors) context.remark(`user ${line}: ${message}`);
      if (report.unknown_providers.length > 0)
        context.remark(`Identities were left out of: ${report.unknown_providers.join(', ')}`);
      if (report.failed > 0) context.reportFailure(`${report.failed} users were not imported`);
    });
}

async function optionsOf({ firebaseHash, passwords }: Options): Promise<FormatOptions> {
  const parameters = firebaseHash === undefined ? null : firebaseParameters(await textOf(firebaseHash));
  if (firebaseHash !== undefined && parameters === null)
    throw new CliError(`${firebaseHash} has no hash parameters of Firebase`, EXIT.usage);
  const hashes = new Map<string, string>();
  for (const row of passwords === undefined ? [] : rowsOf(passwords, await textOf(passwords))) {
    const found = typeof row === 'string' ? null : auth0Hash(row);
    if (found) hashes.set(...found);
  }
  return { firebaseHash: parameters, auth0Hashes: hashes };
}

/** Passes rows that are not objects unchanged: the server reports their fault. */
function* converted(
  rows: Iterable<JsonObject | string>,
  from: string,
  options: FormatOptions,
): Generator<string, void, undefined> {
  const format = FORMATS[from] ?? (() => null);
  for (const row of rows) {
    const user = typeof row === 'string' ? row : format(row, options);
    if (user !== null) yield typeof user === 'string' ? user : JSON.stringify(user);
  }
}

/** Sends lines in parts, which continue where an earlier run ended. */
export async function importUsers(
  context: CommandContext,
  id: string,
  lines: Iterable<string> | AsyncIterable<string>,
  query: { readonly existing: 'skip' | 'update' },
): Promise<Report> {
  let total: Report = NOTHING;
  let part: string[] = [];
  let characters = 0;
  const send = async (): Promise<void> => {
    const init = {
      params: { path: { id }, query },
      body: part.map((line) => `${line}\n`).join(''),
      bodySerializer: (text: string) => text,
    };
    const report = await dataOf(context.api.POST('/admin/v1/projects/{id}/users/import', init));
    total = added(total, report);
    part = [];
    characters = 0;
    context.remark(`${total.users} users`);
  };
  for await (const line of lines) {
    part.push(line);
    characters += line.length;
    if (part.length >= MAX_USERS || characters >= MAX_CHARACTERS) await send();
  }
  if (part.length > 0) await send();
  return total;
}

const NOTHING: Report = {
  ...{ users: 0, created: 0, updated: 0, skipped: 0, failed: 0, identities: 0 },
  ...{ unknown_providers: [], errors: [] },
};

function added(one: Report, other: Report): Report {
  const errors = other.errors.map((error) => ({ ...error, line: error.line + one.users }));
  return {
    users: one.users + other.users,
    created: one.created + other.created,
    updated: one.updated + other.updated,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
    identities: one.identities + other.identities,
    unknown_providers: [...new Set([...one.unknown_providers, ...other.unknown_providers])].sort(),
    errors: [...one.errors, ...errors].slice(0, MAX_ERRORS),
  };
}

const summaryOf = ({
  errors: _errors,
  unknown_providers: _providers,
  ...counts
}: Report): Record<string, unknown> => counts;
