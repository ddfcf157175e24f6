/** Parses the command line, runs one command, and turns an error into one line and an exit code. */
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
import { PHYSICAL_COMMANDS } from './physical-backup.commands';
import { addMoveCommand } from './move.commands';
import { addProjectCommands } from './project.commands';
import { addServerCommands } from './server.commands';
import { addProjectDatabaseCommands } from './project-database.commands';
import { addPeopleCommands, addProjectPeopleCommands } from './staff.commands';
import { addSignInCommands } from './sign-in.commands';
import { addStorageCommands } from './storage.commands';
import { addTokenCommands } from './token.commands';
import { addUpgradeCommand } from './upgrade.command';
import { addApiKeyCommands } from './api-key.commands';
import { addS3KeyCommands } from './s3-key.commands';
import { addScheduleCommands, addWebhookCommands } from './webhook.commands';

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
  addProjectCommands(project, context);
  addMoveCommand(project, context);
  addProjectDatabaseCommands(project, context);
  addMigrateCommands(program, context);
  addDbCommands(program, context);
  addStorageCommands(program, context);
  addApiKeyCommands(program, context);
  addS3KeyCommands(program, context);
  addWebhookCommands(program, context);
  addScheduleCommands(program, context);
  addBackupCommands(program, context, PHYSICAL_COMMANDS);
  addAuditCommand(program, context);
  addDoctorCommand(program, context);
  addUpgradeCommand(program, context);
  addSignInCommands(program, context);
  addPeopleCommands(program, context);
  addProjectPeopleCommands(project, context);
  addTokenCommands(program, context);
  addServerCommands(program, context);
  addGenCommands(program, context);
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
  if (isJson) {
    const answer = error instanceof CliError ? error.answer : undefined;
    out(`${JSON.stringify({ error: answer ?? { message } }, null, 2)}\n`);
  }
  err(`${message}\n`);
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
