/** One migration of a project: its SQL, divided into statements, with its checksum. Pure. */
import { createHash } from 'node:crypto';
import { commandOf, locationInScript, splitStatements, SqlStatement } from '../common/text/sql-statements';
import { tooManyStatements } from '../sql/sql.errors';
import { MAX_STATEMENTS } from '../sql/max-statements';
import { transactionCommand } from './migration.errors';

export interface MigrationInput {
  /** Digits; migrations run in the order of this number. */
  readonly version: string;
  readonly name: string;
  readonly sql: string;
}

export interface MigrationScript extends MigrationInput {
  /** Hexadecimal SHA-256 of the SQL in UTF-8. */
  readonly sha256: string;
  readonly statements: readonly SqlStatement[];
  /** False when the first line is `-- plinth: no-transaction`. */
  readonly inTransaction: boolean;
}

const NO_TRANSACTION = /^--[ \t]*plinth:[ \t]*no-transaction[ \t]*\r?(?:\n|$)/;
const TRANSACTION_COMMANDS = new Set(['begin', 'start', 'commit', 'end', 'rollback', 'abort']);

/** @throws AppError 400 for more than MAX_STATEMENTS together, and as readMigration() */
export async function readMigrations(inputs: readonly MigrationInput[]): Promise<MigrationScript[]> {
  const migrations: MigrationScript[] = [];
  let left = MAX_STATEMENTS;
  for (const input of inputs) {
    const migration = await readMigration(input, left);
    left -= migration.statements.length;
    migrations.push(migration);
  }
  return migrations;
}

/** @throws AppError 400 for a command such as COMMIT in a script that runs in Plinth's transaction */
async function readMigration(input: MigrationInput, most: number): Promise<MigrationScript> {
  const statements = await splitStatements(input.sql, most);
  if (statements.length > most) throw tooManyStatements(MAX_STATEMENTS);
  const script: MigrationScript = {
    ...input,
    sha256: createHash('sha256').update(input.sql).digest('hex'),
    statements,
    inTransaction: !NO_TRANSACTION.test(input.sql),
  };
  const forbidden = script.inTransaction ? script.statements.find(endsTransaction) : undefined;
  if (!forbidden) return script;
  throw transactionCommand(input, commandOf(forbidden), locationInScript(input.sql, forbidden, 1));
}

/** ROLLBACK TO a savepoint stays inside the transaction. */
function endsTransaction(statement: SqlStatement): boolean {
  const { words } = statement;
  if (/^rollback (?:(?:work|transaction) )?to\b/.test(words.join(' '))) return false;
  return TRANSACTION_COMMANDS.has(commandOf(statement)) || /^prepare transaction\b/.test(words.join(' '));
}
