/**
 * A client for work in a project's database outside of the request path. The project's owner chooses rows, notices and
 * error texts there, so what would fill the memory is not read.
 */
import type { ClientConfig } from 'pg';
import { LimitedClient, type MessageLimits } from '../../pg-pipeline';
import { cleanError } from '../sql/clean-error';
import { resultTooLarge } from './result-too-large';

/** Bytes of all rows that a client without limits of its own may read. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface BoundedClientConfig extends ClientConfig {
  /** Default: a client that is sent more than MAX_BYTES of rows fails with AppError 500, and gets no notices. */
  readonly limits?: MessageLimits;
}

export class BoundedClient extends LimitedClient {
  constructor(config: BoundedClientConfig = {}) {
    const budget = new RowBudget(() => this.abort(resultTooLarge(MAX_BYTES)));
    super({ ...config, password: config.password, limits: config.limits ?? budget });
    this.onServerError(cleanError);
  }
}

class RowBudget implements MessageLimits {
  private bytes = 0;

  constructor(private readonly onExcess: () => void) {}

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
