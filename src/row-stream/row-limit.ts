/**
 * Bounds the rows that are held until their statements have ended. Small results are not counted.
 *
 * When the first row of a write arrives, the write has run and is about to be committed: a cancel request comes too late.
 * So Plinth stops reading, the server waits with the rest of the rows, and the session is ended on the server. If the rest
 * fits into the buffers of the sockets, the write is committed already, and its rows are held despite the limit.
 */
import type { FlowControl } from './response-stream';

/** An account of memory. */
export interface HeldMemory {
  /** @throws AppError when no memory is left */
  grow(bytes: number): void;
  release(): void;
}

export interface LimitOptions {
  /** Opens an account. Called for larger results only. */
  readonly hold: () => HeldMemory;
  /** Whether the statements may have changed something. */
  readonly writes: boolean;
}

/** Number of bytes that are not counted, and the step by which the account grows. */
const STEP = 64 * 1024;

export class RowLimit {
  /** Why the rows were refused; null if they were not. */
  refusal: Error | null = null;
  private memory: HeldMemory | null = null;
  /** Number of bytes that the account has reserved. */
  private allowed = STEP;
  private control: FlowControl | undefined;

  constructor(private readonly options: LimitOptions) {}

  start(control: FlowControl): void {
    this.control = control;
  }

  /** @param size bytes that are held. @throws the refusal if nothing can have been changed */
  check(size: number): void {
    if (size > this.allowed && this.refusal === null) this.grow(size - this.allowed);
  }

  release(): void {
    this.memory?.release();
    this.memory = null;
    this.allowed = STEP;
  }

  private grow(missing: number): void {
    const bytes = Math.max(missing, STEP);
    try {
      this.memory ??= this.options.hold();
      this.memory.grow(bytes);
      this.allowed += bytes;
    } catch (error) {
      this.refuse(error as Error);
    }
  }

  private refuse(error: Error): void {
    this.refusal = error;
    const { control } = this;
    if (!this.options.writes) {
      void control?.cancel();
      throw error;
    }
    control?.pause();
    void control?.endSession().then(() => control.resume());
  }
}
