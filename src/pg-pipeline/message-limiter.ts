/**
 * Bounds the messages that reach node-postgres' parser, which makes a string of each field. Rows, error texts, notices and
 * settings may have up to 1 GB each, and a string of more than 512 MiB ends the process.
 */

import {
  COPY_DATA,
  DATA_ROW,
  ERROR_RESPONSE,
  HEADER_BYTES,
  NOTICE_RESPONSE,
  NOTIFICATION_RESPONSE,
  PARAMETER_STATUS,
} from './protocol';

/** Maximum bytes of an error with all its fields, and of a notice, a notification or a reported setting. */
export const MAX_TEXT_MESSAGE_BYTES = 16 * 1024;

/** Decides which messages node-postgres keeps. */
export interface MessageLimits {
  /**
   * False drops the row. The implementer then fails the query, or remembers that rows are missing.
   * @param bytes of the message
   */
  admitsRow(bytes: number): boolean;
  /** False drops the notice. Notices of more than MAX_TEXT_MESSAGE_BYTES are always dropped. */
  admitsNotice(): boolean;
}

/** How a message is handled. */
type Action = 'pass' | 'drop' | 'cut';

export class MessageLimiter {
  /** The action for the message that is arriving. */
  private action: Action = 'pass';
  /** Bytes of the message that have not arrived yet. */
  private missing = 0;
  /** The beginning of a message that is truncated. */
  private kept: Buffer[] = [];
  private keptBytes = 0;

  /** @param pass takes what is passed on; the bytes are valid until it returns */
  constructor(
    private readonly limits: MessageLimits,
    private readonly pass: (bytes: Buffer) => void,
  ) {}

  /** @param bytes whole messages one after the other, or parts of them; headers are never cut (RowSplitter) */
  push(bytes: Buffer): void {
    let at = 0;
    /** Start of the messages that are passed on together. */
    let begin = 0;
    while (at < bytes.length) {
      if (this.missing === 0) this.begin(bytes, at);
      const end = Math.min(bytes.length, at + this.missing);
      this.missing -= end - at;
      if (this.action !== 'pass') {
        if (begin < at) this.pass(bytes.subarray(begin, at));
        begin = end;
        if (this.action === 'cut') this.keep(bytes.subarray(at, end));
      }
      at = end;
    }
    if (begin < at) this.pass(bytes.subarray(begin, at));
  }

  private begin(bytes: Buffer, at: number): void {
    const length = 1 + bytes.readUInt32BE(at + 1);
    this.missing = length;
    this.action = this.actionFor(bytes[at], length);
  }

  private actionFor(code: number | undefined, length: number): Action {
    switch (code) {
      case DATA_ROW:
        return this.limits.admitsRow(length) ? 'pass' : 'drop';
      case ERROR_RESPONSE:
      case NOTIFICATION_RESPONSE:
      case PARAMETER_STATUS:
        return length > MAX_TEXT_MESSAGE_BYTES ? 'cut' : 'pass';
      case NOTICE_RESPONSE:
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
 * Turns the beginning of a message that consists of texts into a whole message. An error begins with severity, SQLSTATE and message
 * (manual, 54.8). The text that was cut ends with an ellipsis; the fields after it are left out.
 */
function cutMessage(beginning: Buffer): Buffer {
  const end = lastWholeCharacter(beginning);
  // One zero ends the field, the next zero the list of fields.
  const message = Buffer.concat([beginning.subarray(0, end), Buffer.from('…\0\0')]);
  message.writeUInt32BE(message.length - 1, HEADER_BYTES - 4);
  return message;
}

/** The end of the last whole character of UTF-8 text that was cut anywhere. */
function lastWholeCharacter(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start > HEADER_BYTES && (bytes.readUInt8(start) & 0xc0) === 0x80) start -= 1;
  return bytes.readUInt8(start) < 0x80 ? bytes.length : start;
}
