/**
 * Separates rows from the other messages of the server (manual, 54.7), so that rows with a sink never become strings:
 * node-postgres decodes every value as UTF-8. The messages that each statement causes are handled here too, because
 * node-postgres' way of handling them costs as much as a row. Errors and notices: message-limiter.ts.
 */
import {
  BIND_COMPLETE,
  COMMAND_COMPLETE,
  DATA_ROW,
  HEADER_BYTES,
  PARSE_COMPLETE,
  READY_FOR_QUERY,
} from './protocol';
import type { RowSink } from './statement';

/** The header of a row: the header of the message, and the number of columns. */
const ROW_HEADER_BYTES = HEADER_BYTES + 2;
/** Rows of this many bytes or more are passed on in parts, if the sink accepts parts. */
const LARGE = 256 * 1024;

/** The part of the running pipeline that the splitter uses. */
export interface RunningQuery {
  /** Called once for each row; false drops it. @param bytes of the message */
  admitsRow(bytes: number): boolean;
  /** Sink of the current statement. Without a sink its rows are forwarded with the other messages. */
  readonly sink: RowSink | undefined;
  /** @param rowCount as in the command tag (`INSERT 0 5`); 0 when the tag has no count */
  onCommandComplete(rowCount: number): void;
  /** Called once for each ReadyForQuery. True: a later ReadyForQuery ends the query, so this message is not forwarded. */
  onReady(): boolean;
  /** Called when the sink threw an error, after which no row is admitted. */
  fail(error: unknown): void;
}

/** How a message is handled. */
type Action = 'forward' | 'handle' | 'hand on in parts' | 'skip';

export class RowSplitter {
  /** Copies of the beginning of a message that is handled, or of a header. */
  private pieces: Buffer[] = [];
  /** Bytes of a message that have not arrived yet. */
  private missing = 0;
  /** Action for that message. */
  private action: Action = 'forward';

  /**
   * @param query the running pipeline; undefined: all messages are forwarded
   * @param forward gets all other messages, in order; headers are never cut
   */
  constructor(
    private readonly query: () => RunningQuery | undefined,
    private readonly forward: (bytes: Buffer) => void,
  ) {}

  /** @param chunk as read from the socket, whose memory is used again afterwards */
  push(chunk: Buffer): void {
    const bytes = this.missing === 0 && this.pieces.length > 0 ? this.takePieces(chunk) : chunk;
    let at = this.missing > 0 ? this.continueMessage(chunk) : 0;
    if (at === chunk.length) return;
    /** Start of the messages that are forwarded together. */
    let begin = at;
    while (at + HEADER_BYTES <= bytes.length) {
      const length = 1 + bytes.readUInt32BE(at + 1);
      const code = bytes[at] as number;
      const end = at + length;
      if (!mayBeHandled(code)) {
        at = end;
        continue;
      }
      // The messages before this one are forwarded first: they may change the current statement.
      if (begin < at) this.forward(bytes.subarray(begin, at));
      begin = at;
      const action = this.actionFor(code, length);
      if (action !== 'forward') {
        if (end > bytes.length) {
          this.missing = end - bytes.length;
          this.beginMessage(action, bytes, at, length);
          return;
        }
        if (action === 'handle') this.handle(bytes, at, end);
        begin = end;
      }
      at = end;
    }
    this.keepRest(bytes, begin, at);
  }

  /** Handles the part of the current message that has arrived. @returns the start of the next one */
  private continueMessage(chunk: Buffer): number {
    const end = Math.min(this.missing, chunk.length);
    this.missing -= end;
    const isLast = this.missing === 0;
    switch (this.action) {
      case 'hand on in parts':
        this.handOnPart(chunk, 0, end, isLast);
        break;
      case 'forward':
        this.forward(chunk.subarray(0, end));
        break;
      case 'handle':
        this.keep(chunk.subarray(0, end));
        if (isLast) {
          const message = this.takePieces();
          this.handle(message, 0, message.length);
        }
        break;
      case 'skip':
    }
    return end;
  }

  /** @param length bytes of the message with its code */
  private actionFor(code: number, length: number): Action {
    const query = this.query();
    if (query === undefined) return 'forward';
    if (code === READY_FOR_QUERY) return query.onReady() ? 'handle' : 'forward';
    if (code !== DATA_ROW) return 'handle';
    if (!query.admitsRow(length)) return 'skip';
    return query.sink ? 'handle' : 'forward';
  }

  /** Called when only the beginning of a message has arrived, and the message is not forwarded. */
  private beginMessage(action: Action, bytes: Buffer, at: number, length: number): void {
    this.action = action;
    if (action === 'skip') return;
    const hasHeader = at + ROW_HEADER_BYTES <= bytes.length;
    const isLargeRow = bytes[at] === DATA_ROW && length >= LARGE;
    if (isLargeRow && hasHeader && this.query()?.sink?.onRowPart) {
      this.action = 'hand on in parts';
      this.handOnPart(bytes, at + ROW_HEADER_BYTES, bytes.length, false);
    } else {
      this.keep(bytes.subarray(at));
    }
  }

  /** @param at the start of the last message if its header is incomplete; else its end, which may be beyond these bytes */
  private keepRest(bytes: Buffer, begin: number, at: number): void {
    const whole = Math.min(at, bytes.length);
    if (begin < whole) this.forward(bytes.subarray(begin, whole));
    if (at < bytes.length) this.keep(bytes.subarray(at));
    else {
      this.missing = at - bytes.length;
      this.action = 'forward';
    }
  }

  private keep(part: Buffer): void {
    this.pieces.push(Buffer.from(part));
  }

  private takePieces(...more: Buffer[]): Buffer {
    const bytes = Buffer.concat([...this.pieces, ...more]);
    this.pieces = [];
    return bytes;
  }

  private handle(bytes: Buffer, at: number, end: number): void {
    const query = this.query();
    if (bytes[at] === DATA_ROW) {
      try {
        query?.sink?.onRow(bytes, at + ROW_HEADER_BYTES, end);
      } catch (error) {
        query?.fail(error);
      }
    } else if (bytes[at] === COMMAND_COMPLETE) {
      // The tag ends with a zero. ParseComplete, BindComplete and ReadyForQuery need no further reaction.
      query?.onCommandComplete(countIn(bytes, at + HEADER_BYTES, end - 1));
    }
  }

  private handOnPart(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    const query = this.query();
    try {
      query?.sink?.onRowPart?.(bytes, start, end, isLast);
    } catch (error) {
      this.action = 'skip';
      query?.fail(error);
    }
  }
}

function mayBeHandled(code: number): boolean {
  return (
    code === DATA_ROW ||
    code === COMMAND_COMPLETE ||
    code === BIND_COMPLETE ||
    code === PARSE_COMPLETE ||
    code === READY_FOR_QUERY
  );
}

const SPACE = ' '.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

/** The last word of a command tag, if it is a number. */
function countIn(bytes: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = end - 1, unit = 1; at >= start; at -= 1, unit *= 10) {
    const code = bytes[at] as number;
    if (code === SPACE) return count;
    const digit = code - ZERO;
    if (digit < 0 || digit > 9) return 0;
    count += digit * unit;
  }
  return 0;
}
