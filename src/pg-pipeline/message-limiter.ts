/**
 * Bounds the messages that reach node-postgres' parser, which makes a string of each field. A project's owner chooses
 * rows, error texts, notices and settings, and each may have up to 1 GB; a string of more than 512 MiB ends the process.
 */

const DATA_ROW = 'D'.charCodeAt(0);
const ERROR = 'E'.charCodeAt(0);
const NOTICE = 'N'.charCodeAt(0);
const NOTIFICATION = 'A'.charCodeAt(0);
const PARAMETER_STATUS = 'S'.charCodeAt(0);
const COPY_DATA = 'd'.charCodeAt(0);

/** The code, and the length, which counts itself but not the code. */
const HEADER_BYTES = 5;
/** Bytes of an error, all its fields together; of a notice, a notification and a reported setting too. */
export const MAX_TEXT_MESSAGE_BYTES = 16 * 1024;

/** Decides about the messages that node-postgres would keep. */
export interface MessageLimits {
  /** False drops the row: the implementer makes the query fail, or knows that rows are missing. @param bytes of the message */
  admitsRow(bytes: number): boolean;
  /** Asked for notices of up to MAX_TEXT_MESSAGE_BYTES; longer ones are dropped. */
  admitsNotice(): boolean;
}

type Fate = 'pass' | 'drop' | 'cut';

export class MessageLimiter {
  /** Of the message under way. */
  private fate: Fate = 'pass';
  /** Bytes to come of the message under way. */
  private missing = 0;
  /** The beginning of a message that is cut. */
  private kept: Buffer[] = [];
  private keptBytes = 0;

  /** @param pass takes what may go on; the bytes are valid until it returns */
  constructor(
    private readonly limits: MessageLimits,
    private readonly pass: (bytes: Buffer) => void,
  ) {}

  /** @param bytes whole messages one after the other, or parts of them; headers are never cut (RowSplitter) */
  push(bytes: Buffer): void {
    let at = 0;
    /** Where the messages begin that are passed on together. */
    let begin = 0;
    while (at < bytes.length) {
      if (this.missing === 0) this.begin(bytes, at);
      const end = Math.min(bytes.length, at + this.missing);
      this.missing -= end - at;
      if (this.fate !== 'pass') {
        if (begin < at) this.pass(bytes.subarray(begin, at));
        begin = end;
        if (this.fate === 'cut') this.keep(bytes.subarray(at, end));
      }
      at = end;
    }
    if (begin < at) this.pass(bytes.subarray(begin, at));
  }

  private begin(bytes: Buffer, at: number): void {
    const length = 1 + bytes.readUInt32BE(at + 1);
    this.missing = length;
    this.fate = this.fateOf(bytes[at], length);
  }

  private fateOf(code: number | undefined, length: number): Fate {
    switch (code) {
      case DATA_ROW:
        return this.limits.admitsRow(length) ? 'pass' : 'drop';
      case ERROR:
      case NOTIFICATION:
      case PARAMETER_STATUS:
        return length > MAX_TEXT_MESSAGE_BYTES ? 'cut' : 'pass';
      case NOTICE:
        return length <= MAX_TEXT_MESSAGE_BYTES && this.limits.admitsNotice() ? 'pass' : 'drop';
      case COPY_DATA:
        return 'drop';
      default:
        return 'pass';
    }
  }

  private keep(bytes: Buffer): void {
    const part = bytes.subarray(0, MAX_TEXT_MESSAGE_BYTES - this.keptBytes);
    this.kept.push(Buffer.from(part));
    this.keptBytes += part.length;
    if (this.missing > 0) return;
    this.pass(cutMessage(Buffer.concat(this.kept)));
    this.kept = [];
    this.keptBytes = 0;
  }
}

/**
 * The beginning of a message of texts as a whole one. Of an error, severity, SQLSTATE and message come first (manual,
 * 54.8). The text that was cut ends with an ellipsis, those behind it are left out.
 */
function cutMessage(beginning: Buffer): Buffer {
  const end = lastWholeCharacter(beginning);
  // Ends the field, and then the list of fields.
  const message = Buffer.concat([beginning.subarray(0, end), Buffer.from('…\0\0')]);
  message.writeUInt32BE(message.length - 1, HEADER_BYTES - 4);
  return message;
}

/** Where UTF-8 text that was cut anywhere ends with a whole character. */
function lastWholeCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > HEADER_BYTES && ((bytes[start] as number) & 0xc0) === 0x80) start -= 1;
  return (bytes[start] as number) < 0x80 ? bytes.length : start;
}
