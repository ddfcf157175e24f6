/**
 * A client for work in a project's database outside of the request path. The project's owner chooses the size
 * of rows, notices and error texts there, so the client does not read more than it can hold in memory.
 */
import { type HostListConfig, LimitedClient, type MessageLimits } from '../../pg-pipeline';
import { cleanError } from '../sql/clean-error';
import { resultTooLarge } from './result-too-large';

/** Default limit for the bytes of all rows that a client reads. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface BoundedClientConfig extends HostListConfig {
  /** Default: more than MAX_BYTES of rows fail with AppError 500, and notices are dropped. */
  readonly limits?: MessageLimits;
  /** As in LimitedClient. */
  readonly copiesOut?: boolean;
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
