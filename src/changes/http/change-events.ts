/** Server-sent events (WHATWG HTML, 9.2) of a table: its rows, and then their changes. Too slow clients are disconnected. */
import type { Response } from 'express';
import { Slices } from '../../common/time/slices';
import type { ChangeMessage, Gap } from '../change';

/** Bytes that may wait for the client. EventSource connects again, and continues with Last-Event-ID. */
const MAX_WAITING = 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** Bytes of a row that are written together. */
const PIECE = 64 * 1024;
const [LINE_FEED, RETURN, SPACE = 0] = Buffer.from('\n\r ');

export class ChangeEvents {
  /** Messages that arrive while the rows are read. */
  private held: (() => void)[] | null = [];
  private heldBytes = 0;
  private heartbeat: NodeJS.Timeout | undefined;
  readonly client = this;
  /** True inside an event. */
  private isWriting = false;
  private onEnd: () => void = () => undefined;

  constructor(private readonly response: Response) {}

  get isBegun(): boolean {
    return this.response.headersSent;
  }

  begin(onEnd: () => void): void {
    this.onEnd = onEnd;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // Keeps nginx from buffering events.
      'X-Accel-Buffering': 'no',
    });
    this.response.write('retry: 1000\n\n');
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
    this.response.once('close', () => this.stop());
    this.response.req.resume();
  }

  /** Waits for a slow client: the rows may exceed the limit of waiting bytes. @param json its bytes are altered */
  async sendRow(json: Buffer): Promise<void> {
    const slices = new Slices();
    this.isWriting = true;
    await this.writeAll(Buffer.from('event: row\ndata: '));
    for (let at = 0; at < json.length && !this.response.destroyed; at += PIECE) {
      const piece = json.subarray(at, at + PIECE);
      // JSON has line breaks only between its tokens.
      for (let index = 0; index < piece.length; index += 1)
        if (piece[index] === LINE_FEED || piece[index] === RETURN) piece[index] = SPACE;
      await this.writeAll(piece);
      if (slices.isOver) await slices.yieldToLoop();
    }
    await this.writeAll(Buffer.from('\n\n'));
    this.isWriting = false;
  }

  private async writeAll(bytes: Buffer): Promise<void> {
    const { response } = this;
    if (response.destroyed || response.writableEnded || response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  /** The rows were sent; changes follow. */
  release(): void {
    this.write('ready', '{}');
    const held = this.held ?? [];
    this.held = null;
    for (const send of held) send();
  }

  onChange({ type, json, position }: ChangeMessage): void {
    this.send(json.length, () => this.write(type, json, position));
  }

  onGap({ message, position, reason, ended }: Gap): void {
    const notice = JSON.stringify({ status: ended ? 'closed' : 'error', reason, message, position });
    this.send(0, () => {
      this.write('system', notice);
      if (ended) this.end();
    });
  }

  /** Ends the response with a reason. In the middle of a row it ends without one, and the client drops the partial event. */
  refuse(reason: string, message: string): void {
    if (!this.isWriting)
      this.write('system', JSON.stringify({ status: 'closed', reason, message, position: null }));
    this.end();
  }

  end(): void {
    this.stop();
    this.response.end();
  }

  private send(bytes: number, write: () => void): void {
    if (bytes > MAX_WAITING) return this.refuse('slow', 'A changed row is too large for this stream');
    if (this.held === null) write();
    else {
      this.held.push(write);
      this.heldBytes += bytes;
    }
    if (this.response.writableLength + this.heldBytes > MAX_WAITING && this.held)
      this.refuse('slow', 'Too many changes came while the rows were read');
    else if (this.response.writableLength > MAX_WAITING) this.refuse('slow', 'The client reads too slowly');
  }

  /** @param line JSON in one line */
  private write(event: string, line: string, id?: string): void {
    // The stream may have ended while rows were sent.
    if (this.response.writableEnded) return;
    this.response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${line}\n\n`);
  }

  private beat(): void {
    if (!this.isWriting) this.response.write(':\n\n');
  }

  private stop(): void {
    clearInterval(this.heartbeat);
    this.held = null;
    this.onEnd();
    this.onEnd = () => undefined;
  }
}
