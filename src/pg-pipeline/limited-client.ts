/** node-postgres' client, which keeps results and notices in memory only within limits. */
import { CONNECTION_EVENTS } from './driver-internals';
import { HostListClient, type HostListConfig } from './host-list-client';
import type { MessageLimits } from './message-limiter';
import { WireConnection } from './wire-connection';

export interface LimitedClientConfig extends HostListConfig {
  readonly limits: MessageLimits;
  /** Needed for COPY TO STDOUT, whose reader takes the stream over. */
  readonly copiesOut?: boolean;
}

export class LimitedClient extends HostListClient {
  private readonly wire: WireConnection;

  constructor(config: LimitedClientConfig) {
    const { ssl = false, limits, copiesOut } = config;
    const wire = new WireConnection({ ssl, limits, copiesOut });
    // Named explicitly, because a pool makes the password non-enumerable.
    super({ ...config, password: config.password, connection: wire });
    this.wire = wire;
  }

  /** Calls back with the number of columns before the first row of each result, and at the end of each statement. */
  onResults(begin: (columns: number) => void, end: () => void): void {
    this.wire.on(CONNECTION_EVENTS.rowDescription, ({ fields }: { readonly fields: readonly unknown[] }) =>
      begin(fields.length),
    );
    this.wire.on(CONNECTION_EVENTS.commandComplete, end);
  }

  /** Calls back with each error of the server before any other code receives it. */
  onServerError(listener: (error: Error) => void): void {
    this.wire.prependListener(CONNECTION_EVENTS.errorResponse, listener);
  }

  /** Closes the connection immediately. The running query fails with the error. */
  abort(error: Error): void {
    this.wire.stream.destroy(error);
  }
}
