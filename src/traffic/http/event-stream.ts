/** Server-sent events (WHATWG HTML, 9.2) that never wait for a slow client: events that do not fit are counted as dropped. */
import type { Request, Response } from 'express';

/** Maximum bytes that wait for the client before events are dropped. */
const MAX_WAITING = 64 * 1024;
const TICK_MS = 1_000;
/** Number of ticks between two comments, which detect a client that has disconnected. */
const TICKS_OF_SILENCE = 15;
/** Number of ticks between two checks whether the client may still receive the stream. */
const TICKS_OF_TRUST = 5;
/**
 * Number of ticks after which a stream ends. The client connects again (EventSource does so by itself), and
 * its credential is checked again.
 */
const MAX_TICKS = 900;

export class EventStream {
  private dropped = 0;
  private ticks = 0;
  private readonly timer: NodeJS.Timeout;

  /**
   * Sends the head of the response.
   * @param mayGoOn called every second; false ends the stream
   * @param isAllowed called every five seconds; false, or an error, ends the stream
   * @param onEnd called once
   */
  constructor(
    request: Request,
    private readonly response: Response,
    private readonly mayGoOn: () => boolean,
    private readonly isAllowed: () => Promise<boolean>,
    onEnd: () => void,
  ) {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Otherwise nginx would buffer events.
      'X-Accel-Buffering': 'no',
    });
    response.write(': connected\n\n');
    this.timer = setInterval(() => this.tick(), TICK_MS).unref();
    response.once('close', () => {
      clearInterval(this.timer);
      onEnd();
    });
    // The end of the request alone does not close the response.
    request.resume();
  }

  send(event: string, data: unknown): void {
    if (this.response.writableLength > MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    this.reportDropped();
    this.write(event, data);
  }

  /** Counts events that were lost before they reached this stream. */
  skip(events: number): void {
    this.dropped += events;
  }

  private tick(): void {
    this.ticks += 1;
    if (!this.mayGoOn() || this.ticks > MAX_TICKS) {
      this.response.end();
      return;
    }
    if (this.ticks % TICKS_OF_TRUST === 0) void this.endUnlessAllowed();
    if (this.response.writableLength > MAX_WAITING) return;
    this.reportDropped();
    if (this.ticks % TICKS_OF_SILENCE === 0) this.response.write(':\n\n');
  }

  private async endUnlessAllowed(): Promise<void> {
    const isAllowed = await this.isAllowed().catch(() => false);
    if (!isAllowed) this.response.end();
  }

  private reportDropped(): void {
    if (this.dropped === 0) return;
    this.write('dropped', { count: this.dropped });
    this.dropped = 0;
  }

  private write(event: string, data: unknown): void {
    this.response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
