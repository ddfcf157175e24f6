/** Runs the statements of one migration in a session of the owner. */
import { DatabaseError } from 'pg';
import { locationInScript, SqlStatement } from '../common/text/sql-statements';
import type { BoundedClient } from '../database/pools/one-off-connection';
import { cleanText } from '../database/sql/clean-error';
import { type MessageLimits, runSingleCommand } from '../pg-pipeline';
import { migrationFailed, sqlAbandoned } from '../sql/sql.errors';
import { transactionEnded } from './migration.errors';
import { MigrationLedger } from './migration-ledger.repository';
import { MigrationScript } from './migration-script';

const MAX_NOTICES = 100;

/** Drops the rows of a migration's statements as they arrive, and keeps its notices. */
export class MigrationOutput implements MessageLimits {
  readonly notices: string[] = [];
  isScript = false;

  admitsRow(): boolean {
    return !this.isScript;
  }

  admitsNotice(): boolean {
    return this.isScript && this.notices.length < MAX_NOTICES;
  }
}

export class MigrationSession {
  /** @param abandoned when aborted, no further statement is run */
  constructor(
    private readonly client: BoundedClient,
    private readonly output: MigrationOutput,
    private readonly ledger: MigrationLedger,
    private readonly abandoned?: AbortSignal,
  ) {
    client.on('notice', ({ message }) => output.notices.push(cleanText(message ?? '')));
  }

  /** Runs a migration and records it: in one transaction, unless its first line asks for none. */
  async apply(migration: MigrationScript): Promise<void> {
    if (!migration.inTransaction) return this.applyWithoutTransaction(migration);
    await this.client.query('begin');
    // Recorded first: a second run that somehow passed the lock waits here and then fails.
    await this.record(migration);
    await this.runInTransaction(migration);
    await this.client.query('commit').catch((error: unknown) => {
      throw faultAt(error, migration, null);
    });
  }

  /** Runs migrations in one transaction, and rolls it back. */
  async rehearse(migrations: readonly MigrationScript[]): Promise<void> {
    await this.client.query('begin');
    for (const migration of migrations) {
      await this.runInTransaction(migration);
      await this.client.query('set constraints all immediate').catch((error: unknown) => {
        throw faultAt(error, migration, null);
      });
      // Outside a dry run, each migration has its own transaction and session, and is checked at its end, as at COMMIT.
      await this.client.query('set constraints all deferred; reset role; reset all');
    }
    await this.client.query('rollback');
  }

  private async runInTransaction(migration: MigrationScript): Promise<void> {
    const before = await this.transactionId();
    await this.runStatements(migration);
    if (this.client.getTransactionStatus() !== 'T' || (await this.transactionId()) !== before) {
      throw transactionEnded(migration);
    }
  }

  /** A failed script is not recorded: the next run starts again with the first statement. */
  private async applyWithoutTransaction(migration: MigrationScript): Promise<void> {
    await this.runStatements(migration);
    if (this.client.getTransactionStatus() !== 'I') throw transactionEnded(migration);
    await this.client.query('reset role');
    await this.record(migration);
  }

  /** An owner's settings and triggers may refuse the record. */
  private async record(migration: MigrationScript): Promise<void> {
    await this.ledger.record(this.client, migration).catch((error: unknown) => {
      throw faultAt(error, migration, null);
    });
  }

  private async runStatements(migration: MigrationScript): Promise<void> {
    this.output.isScript = true;
    try {
      for (const statement of migration.statements) {
        if (this.abandoned?.aborted) throw sqlAbandoned();
        await runSingleCommand(this.client, statement.text).catch((error: unknown) => {
          throw faultAt(error, migration, statement);
        });
      }
    } finally {
      this.output.isScript = false;
    }
  }

  private async transactionId(): Promise<string | undefined> {
    const { rows } = await this.client.query<{ id: string }>(
      'select pg_catalog.pg_current_xact_id()::text as id',
    );
    return rows[0]?.id;
  }
}

/** An error without a position gets the position of its statement. */
function faultAt(error: unknown, migration: MigrationScript, statement: SqlStatement | null): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const location = statement && locationInScript(migration.sql, statement, Number(error.position ?? 1));
  return migrationFailed(error, migration, location);
}
