/** A connection whose statements are sent in pipelines, and stay prepared. */
import { CONNECTION_EVENTS } from './driver-internals';
import type { HostAddress } from './host-list';
import { HostListClient, type HostListConfig } from './host-list-client';
import { type PipelineHost, PipelinedQuery } from './pipelined-query';
import { type ServerAddress, sendCancel } from './send-cancel';
import type { Statement, StatementResult } from './statement';
import { StatementCache } from './statement-cache';
import { WireConnection } from './wire-connection';

/** Settings of node-postgres' Client, of which the address is required. */
export type PipelineConfig = Omit<HostListConfig, 'connection' | 'stream'> & ServerAddress;

/** A pipeline that has been sent. */
export interface RunningPipeline {
  /** Rejects with the server's DatabaseError, with ResultTooLargeError, or with an error that a sink has thrown. */
  readonly done: Promise<StatementResult[]>;
  /** Index of the current statement, or, after a failure, of the failed statement. */
  readonly current: number;
}

export class PipelineConnection {
  /** Set when the connection may not be used again: it was lost or closed, or its state is in doubt. */
  broken = false;
  /** Milliseconds of the monotonic clock at which reading was paused; null while it is not. */
  pausedSince: number | null = null;
  /** A running cancel request, which could hit the next query; null when there is none. */
  cancelling: Promise<void> | null = null;

  private readonly wire: WireConnection;
  private readonly client: HostListClient;
  private readonly host: PipelineHost;

  constructor(private readonly config: PipelineConfig) {
    this.wire = new WireConnection({ ssl: config.ssl });
    this.client = new HostListClient({ ...config, connection: this.wire });
    this.client.on('error', () => this.markLost());
    this.client.on('end', () => this.markLost());
    this.client.on('notification', ({ channel }) => this.onNotification(channel));
    this.host = {
      wire: this.wire,
      statements: new StatementCache(),
      cancel: () => void this.cancel(),
      onFailure: (error) => this.onFailure(error),
    };
  }

  /** Called once when the connection is lost, unless it was broken before. */
  onLost: () => void = () => undefined;

  /** Called when the server reports a new value of a setting (manual, 54.2.7), but not by connect(). */
  onParameterStatus: () => void = () => undefined;

  /** Called for each notification. Notifications arrive between transactions. */
  onNotification: (channel: string) => void = () => undefined;

  async connect(): Promise<void> {
    await this.client.connect();
    this.wire.on(CONNECTION_EVENTS.parameterStatus, () => this.onParameterStatus());
  }

  /**
   * Sends a pipeline as soon as the pipelines before it are done.
   * @param afterwards runs in the same round trip once the pipeline is committed or has failed; its failure is ignored
   */
  start(statements: readonly Statement[], afterwards: Statement | null = null): RunningPipeline {
    return this.client.query(new PipelinedQuery(statements, this.host, afterwards));
  }

  /** Runs statements in one round trip and one implicit transaction, or inside the explicit one that is open. */
  async pipeline(statements: readonly Statement[]): Promise<StatementResult[]> {
    return this.start(statements).done;
  }

  /** Forgets all prepared statements. The statement that it returns must be sent next. */
  deallocateAll(): Statement {
    this.host.statements.clear();
    return { text: 'deallocate all' };
  }

  /** Stops reading, which makes the server stop sending. */
  pause(): void {
    this.pausedSince ??= performance.now();
    this.wire.stream.pause();
  }

  resume(): void {
    this.pausedSince = null;
    this.wire.stream.resume();
  }

  /** Address of the server; of several hosts, the address of the connected host. */
  get address(): HostAddress {
    const { host, port } = this.client;
    return { host, port };
  }

  /** Id of the server's process. */
  get processId(): number {
    return this.client.processID ?? 0;
  }

  /** Closes the connection immediately. The running pipeline fails. */
  disconnect(): void {
    this.wire.stream.destroy();
  }

  /** Asks the server to cancel the running statement, which then fails with 57014. Resolves when the request is complete. */
  async cancel(): Promise<void> {
    const { host, port, secretKey } = this.client;
    const address = { host, port, ssl: this.config.ssl };
    this.cancelling ??= sendCancel(address, this.processId, secretKey ?? 0).then((isOver) => {
      this.cancelling = null;
      if (!isOver) this.broken = true;
    });
    await this.cancelling;
  }

  async close(): Promise<void> {
    this.broken = true;
    await this.client.end().catch(() => undefined);
  }

  /** Handles the failure of a pipeline. @returns the error that it rejects with */
  protected onFailure(error: Error & { severity?: string }): Error {
    // The server closes the socket a moment after a fatal error.
    if (error.severity === 'FATAL' || error.severity === 'PANIC') this.broken = true;
    return error;
  }

  private markLost(): void {
    if (this.broken) return;
    this.broken = true;
    this.onLost();
  }
}
