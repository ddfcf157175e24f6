/** Parses the command line, runs one command, and turns an error into a line, the database's hint and an exit code. */
import { Command, CommanderError } from 'commander';
import { isSystemError, messageOf } from '../common/errors/error-facts';
import { PRODUCT } from '../config/product';
import { addAuditCommand } from './audit.command';
import { addBackupCommands } from './backup.commands';
import { CliError, EXIT } from './cli-error';
import { CliEnvironment, CommandContext } from './command-context';
import { addDbCommands } from './db.commands';
import { addDoctorCommand } from './doctor.command';
import { addMigrateCommands } from './migrate.commands';
import { addGenCommands } from './gen.commands';
import { addMoveCommand } from './move.commands';
import { addCommands, type Commands } from './operation';
import { PROJECT_COMMANDS } from './project.commands';
import {
  API_KEY_COMMANDS,
  S3_KEY_COMMANDS,
  SCHEDULE_COMMANDS,
  WEBHOOK_COMMANDS,
} from './project-part.commands';
import { SERVER_COMMANDS, UPGRADE_COMMAND } from './server.commands';
import { addSqlCommand } from './sql.command';
import { PEOPLE_COMMANDS, PROJECT_PEOPLE_COMMANDS, TOKEN_COMMANDS } from './staff.commands';
import { addSignInCommands } from './sign-in.commands';
import { addImportCommands } from './import.commands';
import { addStorageCommands } from './storage.commands';
import { addUserCommands } from './users.commands';

const GROUPS: Readonly<Record<string, readonly [description: string, commands: Commands]>> = {
  'api-keys': ['named keys of a project, next to its two', API_KEY_COMMANDS],
  's3-keys': ['access keys for tools that speak S3', S3_KEY_COMMANDS],
  webhooks: ['signed requests to other systems, for changes', WEBHOOK_COMMANDS],
  schedules: ['SQL and requests at the times of a cron expression', SCHEDULE_COMMANDS],
  people: ['staff, who administer the installation', PEOPLE_COMMANDS],
  token: ['your personal access tokens', TOKEN_COMMANDS],
  server: ["PostgreSQL servers for projects' databases", SERVER_COMMANDS],
};

/** @returns the exit code */
export async function runCli(args: readonly string[], environment: CliEnvironment): Promise<number> {
  const program = new Command('plinth')
    .description(
      'Administer a running Plinth server. Reads the same environment and .env file as the server.',
    )
    .version(PRODUCT.version)
    .option('--json', 'print JSON')
    .showHelpAfterError('(--help lists the commands and options)')
    .exitOverride()
    .configureOutput({ writeOut: environment.out, writeErr: environment.err });
  const context = new CommandContext(program, environment);
  const project = program.command('project').description('projects, their keys and databases');
  addCommands(project, context, { ...PROJECT_COMMANDS, ...PROJECT_PEOPLE_COMMANDS });
  addMoveCommand(project, context);
  addSqlCommand(project, context);
  addMigrateCommands(program, context);
  addDbCommands(program, context);
  addStorageCommands(program, context);
  addUserCommands(program, context);
  addImportCommands(program, context);
  addBackupCommands(program, context);
  addAuditCommand(program, context);
  addDoctorCommand(program, context);
  addSignInCommands(program, context);
  addGenCommands(program, context);
  addCommands(program, context, UPGRADE_COMMAND);
  for (const [name, [description, commands]] of Object.entries(GROUPS))
    addCommands(program.command(name).description(description), context, commands);
  for (const command of allCommands(program)) {
    command.exitOverride().configureOutput({ writeOut: environment.out, writeErr: environment.err });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    return explain(error, environment, context.isJson);
  }
}

function explain(error: unknown, { out, err }: CliEnvironment, isJson: boolean): number {
  // Commander has written its message or the help already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
  const message = plainMessage(error);
  const answer = error instanceof CliError ? error.answer : undefined;
  if (isJson) {
    out(`${JSON.stringify({ error: answer ?? { message } }, null, 2)}\n`);
  }
  const hint = answer?.database?.hint;
  err(`${message}\n${hint ? `Hint: ${hint}\n` : ''}`);
  return error instanceof CliError ? error.exitCode : EXIT.failed;
}

/** `notes.sql: no such file or directory`, for Node's `ENOENT: no such file or directory, open 'notes.sql'`. */
function plainMessage(error: unknown): string {
  if (!isSystemError(error)) return messageOf(error);
  const [, reason = error.message] = /^[A-Z\d]+: (.*?), \w+(?: '.*)?$/s.exec(error.message) ?? [];
  return error.path === undefined ? reason : `${error.path}: ${reason}`;
}

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}
