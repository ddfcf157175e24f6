/**
 * Ends a body that arrives too slowly: a minimum number of bytes must arrive in each window of time, and a body that is held
 * in memory has a deadline. A window in which the server itself paused the body does not count.
 */
import type { IncomingMessage } from 'node:http';
import { httpError } from '../common/errors/app-error';

export interface PaceLimits {
  /** Bytes a second, on average over each window. */
  readonly minRate: number;
  readonly windowMs: number;
  /** Milliseconds for the whole of a body that is held in memory. */
  readonly deadlineMs: number;
}

export class BodyPace {
  private timer: NodeJS.Timeout;
  /** Bytes since the window began. */
  private bytes = 0;
  private isPaused = false;
  /** Whether the server itself stopped reading in this window. */
  private isExcused = false;
  private readonly until: number;

  /**
   * Starts the first window.
   * @param isHeld false for a body that streams: it has no deadline
   * @param onTooSlow called once
   */
  constructor(
    private readonly limits: PaceLimits,
    isHeld: boolean,
    private readonly onTooSlow: () => void,
  ) {
    this.until = isHeld ? performance.now() + limits.deadlineMs : Infinity;
    this.timer = this.nextWindow();
  }

  take(bytes: number): void {
    this.bytes += bytes;
  }

  /** The server itself stops reading. */
  pause(): void {
    this.isPaused = true;
    this.isExcused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private nextWindow(): NodeJS.Timeout {
    const { windowMs } = this.limits;
    return setTimeout(this.judge, Math.min(windowMs, this.until - performance.now())).unref();
  }

  private readonly judge = (): void => {
    const { minRate, windowMs } = this.limits;
    const isSlow = this.bytes < (minRate * windowMs) / 1_000;
    if ((isSlow && !this.isExcused) || performance.now() >= this.until) {
      this.onTooSlow();
      return;
    }
    this.bytes = 0;
    this.isExcused = this.isPaused;
    this.timer = this.nextWindow();
  };
}

/**
 * Yields the chunks of a body. Ending the iteration early leaves the connection open for the response.
 * @throws AppError 408 when the body arrives too slowly, Error when the client breaks off
 */
export async function* pacedBody(
  request: IncomingMessage,
  limits: PaceLimits,
): AsyncGenerator<Buffer, void, undefined> {
  const onTooSlow = (): void => void request.destroy(httpError(408, 'The body arrives too slowly'));
  const pace = new BodyPace(limits, false, onTooSlow);
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of chunks) {
      pace.take(chunk.length);
      pace.pause();
      yield chunk;
      pace.resume();
    }
  } finally {
    pace.end();
  }
}
