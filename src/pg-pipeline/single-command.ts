/** Runs one SQL command as an administrator wrote it. PostgreSQL itself refuses a text with several commands. */
import { type Connection, Query, type QueryConfig } from 'pg';
import './driver-internals';

/**
 * The extended query protocol takes one command for each Parse message, so a text that was split wrongly cannot hide a second
 * command, such as COMMIT. Its result is dropped.
 */
class SingleCommand extends Query {
  /** Called by node-postgres. */
  handleCopyInResponse(connection: Connection): void {
    connection.sendCopyFail('COPY FROM STDIN is not available here');
    // While the server waited for COPY data, it ignored the Sync after the command (manual, 54.2.6).
    connection.sync();
  }
}

/** The part of a node-postgres client that runs a query. */
interface Runner {
  query(query: Query): unknown;
}

/** @throws DatabaseError 42601 for several commands; else the error of the command */
export function runSingleCommand(client: Runner, text: string): Promise<void> {
  const config: QueryConfig & { queryMode: 'extended' } = { text, queryMode: 'extended' };
  return new Promise((resolve, reject) => {
    const command = new SingleCommand(config);
    // With a listener, rows are not collected.
    command.on('row', () => undefined);
    command.on('end', () => resolve());
    command.on('error', reject);
    client.query(command);
  });
}
