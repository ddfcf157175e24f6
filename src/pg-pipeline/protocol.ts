/** Constants of PostgreSQL's frontend/backend protocol (manual, 54.7). */

/** Codes of the messages that a server sends. */
export const DATA_ROW = codeOf('D');
export const COMMAND_COMPLETE = codeOf('C');
export const PARSE_COMPLETE = codeOf('1');
export const BIND_COMPLETE = codeOf('2');
export const ERROR_RESPONSE = codeOf('E');
export const NOTICE_RESPONSE = codeOf('N');
export const NOTIFICATION_RESPONSE = codeOf('A');
export const PARAMETER_STATUS = codeOf('S');
export const COPY_DATA = codeOf('d');
export const READY_FOR_QUERY = codeOf('Z');

/** The code, and the length, which counts itself but not the code. */
export const HEADER_BYTES = 5;

/** Formats of parameters and of columns. */
export const TEXT = 0;
export const BINARY = 1;
export type Format = typeof TEXT | typeof BINARY;

/** Replaces the length of a null value. */
export const NULL_LENGTH = -1;

function codeOf(letter: string): number {
  return letter.charCodeAt(0);
}
