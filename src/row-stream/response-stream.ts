/**
 * Sends a body to a client as its rows arrive. A client that reads slowly slows the database down; a client
 * that disconnects stops a read.
 */
import type { ServerResponse } from 'node:http';

export interface StreamOptions {
  /** Writes status and headers of a response of unknown length. Null if the body is never streamed. */
  readonly begin: (() => void) | null;
  /** Whether the source is cancelled when the client disconnects. */
  readonly stopsWithClient: boolean;
  /** Returns the client's address. Called for streamed answers only. */
  readonly client: () => string;
}

/** Milliseconds within which the client must read the written data: it holds a database connection until then. */
export const STALL_LIMIT_MS = 30_000;

export class ResponseStream {
  /** Whether a part of the body was sent. */
  hasBegun = false;
  private control: FlowControl | undefined;
  private stall: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly options: StreamOptions,
  ) {}

  get isAllowed(): boolean {
    return this.options.begin !== null;
  }

  /** Called again if the statements are run again. */
  start(control: FlowControl): void {
    this.control = control;
    this.response.off('close', this.onClose);
    if (this.response.destroyed) this.stop();
    else this.response.once('close', this.onClose);
  }

  /** @throws AppError 503 before anything is sent, if clients hold too many connections already */
  write(blocks: readonly Buffer[]): void {
    if (!this.hasBegun) this.begin();
    if (this.response.destroyed || this.writeAll(blocks)) return;
    this.control?.pause();
    // statement_timeout does not run while PostgreSQL waits for Plinth to read.
    clearTimeout(this.stall);
    this.stall = setTimeout(this.abort, STALL_LIMIT_MS);
    this.response.once('drain', () => {
      clearTimeout(this.stall);
      this.control?.resume();
    });
  }

  /** Sends the last part. */
  end(blocks: readonly Buffer[]): void {
    this.writeAll(blocks);
    this.response.end();
  }

  /** Called when the source has ended: the client's pace no longer matters. */
  release(): void {
    clearTimeout(this.stall);
    this.response.off('close', this.onClose);
  }

  private begin(): void {
    try {
      this.control?.beginStream(this.options.client(), this.abort);
    } catch (error) {
      void this.control?.cancel();
      throw error;
    }
    this.hasBegun = true;
    this.options.begin?.();
  }

  /** Writes the blocks. @returns false if the client has to read some of them first */
  private writeAll(blocks: readonly Buffer[]): boolean {
    return blocks.reduce((_, block) => this.response.write(block), true);
  }

  /** Does not rely on `close`, which a response without a socket never emits. */
  private readonly abort = (): void => {
    this.release();
    this.response.destroy();
    this.stop();
  };

  private readonly onClose = (): void => {
    clearTimeout(this.stall);
    if (!this.response.writableFinished) this.stop();
  };

  /** A source that is not cancelled is read to its end, so it must not remain paused. */
  private stop(): void {
    if (this.options.stopsWithClient) void this.control?.cancel();
    this.control?.resume();
  }
}

/** How a consumer slows its source, or stops it. */
export interface FlowControl {
  pause(): void;
  resume(): void;
  /** Resolves when the source has been asked to stop. */
  cancel(): Promise<void>;
  /** Ends the session, which undoes uncommitted work. Resolves when it has ended, or the connection is closed. */
  endSession(): Promise<void>;
  /**
   * From this call on, the client's speed determines how long the source is in use.
   * @param client address
   * @param end ends the answer when other requests need the source
   * @throws AppError 503 when clients hold too many sources in this way
   */
  beginStream(client: string, end: () => void): void;
}

/** Takes rows while their statements may still have to run again. */
export interface StreamConsumer {
  /** Called before the first row. */
  onStart(control: FlowControl): void;
  /** The statements are about to run again: forgets their rows. False if rows were already sent to the client. */
  onRepeat(): boolean;
}
