/**
 * node-postgres' client for work in a project's database outside of the request path, where the project's owner chooses
 * rows, notices and error texts: what would fill the memory is not read.
 */
import { Client, type ClientConfig } from 'pg';
import { cleanError } from '../sql/clean-error';
import type { MessageLimits } from '../../pg-pipeline/message-limiter';
import { resultTooLarge } from './result-too-large';
import { WireConnection } from '../../pg-pipeline/wire-connection';

/** Bytes of all rows that a client without limits of its own may read. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface BoundedClientConfig extends ClientConfig {
  /** Without them a client that is sent more than MAX_BYTES of rows fails, and gets no notices. */
  readonly limits?: MessageLimits;
}

export class BoundedClient extends Client {
  constructor(config: BoundedClientConfig = {}) {
    const budget = new RowBudget();
    const wire = new WireConnection({ ssl: config.ssl ?? false, limits: config.limits ?? budget });
    // Pools hide the password from loops over its settings.
    super({ ...config, password: config.password, connection: wire });
    // Fails the query that runs, and the connection with it.
    budget.onExcess = () => wire.stream.destroy(resultTooLarge(MAX_BYTES));
    wire.prependListener('errorMessage', (error: Error) => cleanError(error));
  }

  /** Calls back before the first row of each result, and with the end of each statement. */
  onResults(begin: () => void, end: () => void): void {
    const { connection } = this as unknown as { connection: WireConnection };
    connection.on('rowDescription', begin);
    connection.on('commandComplete', end);
  }
}

class RowBudget implements MessageLimits {
  private bytes = 0;

  onExcess: () => void = () => undefined;

  admitsRow(bytes: number): boolean {
    this.bytes += bytes;
    if (this.bytes <= MAX_BYTES) return true;
    this.onExcess();
    return false;
  }

  admitsNotice(): boolean {
    return false;
  }
}
