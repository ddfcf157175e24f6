/**
 * Parts the rows from the other messages of PostgreSQL's protocol (manual, 54.7), so that rows which are only handed on
 * never become strings: node-postgres decodes every value as UTF-8, and the answer would encode it again. The messages
 * that every statement brings are looked at here too: on their way through node-postgres each cost as much as a row.
 * Rows that the query does not admit are dropped as they arrive. Errors and notices: message-limiter.ts.
 */

const DATA_ROW = 'D'.charCodeAt(0);
const COMMAND_COMPLETE = 'C'.charCodeAt(0);
const PARSE_COMPLETE = '1'.charCodeAt(0);
const BIND_COMPLETE = '2'.charCodeAt(0);
/** The code, and the length, which counts itself but not the code. */
const HEADER_BYTES = 5;
/** The same, and the number of columns. */
const ROW_HEADER_BYTES = HEADER_BYTES + 2;
/** Bytes of a row from which it is not waited for, but handed on as it arrives. */
const LARGE = 256 * 1024;
/** The query under way, as far as it takes messages itself. */
export interface MessageTaker {
  /** Whether a row of so many bytes is wanted; otherwise nobody gets it. */
  admitsRow(bytes: number): boolean;
  /** Whether it takes the rows that come now; otherwise they go with the other messages. */
  readonly takesRows: boolean;
  /**
   * A row's columns as they lie between two places: the length of each in four bytes, and its value. Valid until this
   * returns.
   */
  onRow(bytes: Buffer, start: number, end: number): void;
  /** Whether it takes large rows in parts. */
  readonly takesParts: boolean;
  /** A part of what onRow() would get, cut anywhere. */
  onRowPart(bytes: Buffer, start: number, end: number, isLast: boolean): void;
  /** @param rowCount as the command tag has it (`INSERT 0 5`); 0 when the tag has no count */
  onCommandComplete(rowCount: number): void;
}

/** What happens to a message. */
type Fate = 'forwarded' | 'taken' | 'in parts' | 'skipped';

export class RowSplitter {
  /** Copies of what came of a message of which more is to come; only one that is taken, or a header. */
  private pieces: Buffer[] = [];
  /** Bytes to come of a message that was begun. */
  private missing = 0;
  /** Of that message. */
  private fate: Fate = 'forwarded';

  /**
   * @param query under way; undefined: all messages are forwarded
   * @param forward takes everything else, in order and whole bytes of the stream
   */
  constructor(
    private readonly query: () => MessageTaker | undefined,
    private readonly forward: (bytes: Buffer) => void,
  ) {}

  push(chunk: Buffer): void {
    if (this.missing > 0) {
      const at = this.goOn(chunk);
      if (at < chunk.length) this.split(chunk, at);
    } else if (this.pieces.length > 0) {
      this.split(this.takePieces(chunk), 0);
    } else {
      this.split(chunk, 0);
    }
  }

  /** Takes what is left of the message under way. @returns where the next one begins */
  private goOn(chunk: Buffer): number {
    const end = Math.min(this.missing, chunk.length);
    const part = chunk.subarray(0, end);
    this.missing -= end;
    const isLast = this.missing === 0;
    switch (this.fate) {
      case 'in parts':
        this.query()?.onRowPart(chunk, 0, end, isLast);
        break;
      case 'forwarded':
        this.forward(part);
        break;
      case 'taken':
        this.keep(part);
        if (isLast) {
          const message = this.takePieces();
          this.take(message, 0, message.length);
        }
        break;
      case 'skipped':
    }
    return end;
  }

  private split(bytes: Buffer, start: number): void {
    let at = start;
    /** Where the messages begin that are forwarded together. */
    let begin = start;
    while (at + HEADER_BYTES <= bytes.length) {
      const length = 1 + bytes.readUInt32BE(at + 1);
      const code = bytes[at] as number;
      const end = at + length;
      if (!isLookedAt(code)) {
        at = end;
        continue;
      }
      // Who takes it may depend on the messages before it.
      if (begin < at) this.forward(bytes.subarray(begin, at));
      begin = at;
      const fate = this.fateOf(code, length);
      if (fate !== 'forwarded') {
        if (end > bytes.length) {
          this.missing = end - bytes.length;
          this.begin(fate, bytes, at, length);
          return;
        }
        if (fate === 'taken') this.take(bytes, at, end);
        begin = end;
      }
      at = end;
    }
    this.keepRest(bytes, begin, at);
  }

  /** @param length of the message with its code, in bytes */
  private fateOf(code: number, length: number): Fate {
    const query = this.query();
    if (query === undefined) return 'forwarded';
    if (code !== DATA_ROW) return 'taken';
    if (!query.admitsRow(length)) return 'skipped';
    return query.takesRows ? 'taken' : 'forwarded';
  }

  /** Of a message that is not forwarded, there is only its beginning yet. */
  private begin(fate: Fate, bytes: Buffer, at: number, length: number): void {
    const query = this.query();
    const hasHeader = at + ROW_HEADER_BYTES <= bytes.length;
    const isLargeRow = bytes[at] === DATA_ROW && length >= LARGE;
    this.fate = fate;
    if (fate === 'taken' && isLargeRow && hasHeader && query?.takesParts) {
      this.fate = 'in parts';
      query.onRowPart(bytes, at + ROW_HEADER_BYTES, bytes.length, false);
    } else if (fate !== 'skipped') {
      this.keep(bytes.subarray(at));
    }
  }

  /** @param at where the last message begins (its header is cut) or ends, here or in what is to come */
  private keepRest(bytes: Buffer, begin: number, at: number): void {
    const whole = Math.min(at, bytes.length);
    if (begin < whole) this.forward(bytes.subarray(begin, whole));
    if (at < bytes.length) this.keep(bytes.subarray(at));
    else {
      this.missing = at - bytes.length;
      this.fate = 'forwarded';
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

  private take(bytes: Buffer, at: number, end: number): void {
    if (bytes[at] === DATA_ROW) this.query()?.onRow(bytes, at + ROW_HEADER_BYTES, end);
    // Text that ends with a zero. That something was parsed or bound needs no answer.
    else if (bytes[at] === COMMAND_COMPLETE)
      this.query()?.onCommandComplete(countIn(bytes, at + HEADER_BYTES, end - 1));
  }
}

function isLookedAt(code: number): boolean {
  return code === DATA_ROW || code === COMMAND_COMPLETE || code === BIND_COMPLETE || code === PARSE_COMPLETE;
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

/** The columns of a row; a taker copies what it keeps. */
export type RawRow = (Buffer | null)[];

/** As MessageTaker.onRow() takes them. */
export function rowIn(bytes: Buffer, start: number, end: number): RawRow {
  const row: RawRow = [];
  let offset = start;
  while (offset < end) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    row.push(length < 0 ? null : bytes.subarray(offset, offset + length));
    offset += Math.max(0, length);
  }
  return row;
}
