/** Writes the progress of a move to its row, about once a second. */
import type { CopyProgress } from './database-copy';
import type { MoveRepository } from './move.repository';

const REPORT_MS = 1_000;

export class MoveProgress implements CopyProgress {
  private name = 'preparing';
  private bytes = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly moves: MoveRepository,
    private readonly projectId: string,
    private readonly signal: AbortSignal,
  ) {
    this.timer = setInterval(() => this.report(), REPORT_MS);
  }

  step(name: string): void {
    this.signal.throwIfAborted();
    this.name = name;
    this.report();
  }

  passed(bytes: number): void {
    this.signal.throwIfAborted();
    this.bytes += bytes;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** A report that fails is made up for by the next. */
  private report(): void {
    void this.moves.report(this.projectId, this.name, this.bytes).catch(() => undefined);
  }
}
