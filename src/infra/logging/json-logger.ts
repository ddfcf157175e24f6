/** Nest's logger interface over pino: one JSON object per line, at the configured level. */
import { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';

/** Context of Nest's own start-up messages, useful only when a start fails. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Context of errors that Nest logs and throws again; main.ts prints these errors. */
const RETHROWN = 'ExceptionHandler';
/** Maximum number of characters of one text: an error raised by a project's SQL may have megabytes. */
const MAX_TEXT = 8_192;
/** Maximum bytes of lines that wait while standard output cannot be written. */
const MAX_WAITING = 1024 * 1024;
/** Matches a JWT (all access tokens are JWTs), the beginning of a JWT, and named keys. */
const TOKEN = /\b(?:eyJ[\w-]{10,}(?:\.[\w-]*){0,2}|plinth_(?:publishable|secret)_[\w-]{10,})/g;

export class JsonLogger implements LoggerService {
  private readonly pino: Logger;

  /** @param destination default: standard output */
  constructor(level: string, destination: DestinationStream = standardOutput()) {
    this.pino = pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) !== RETHROWN) this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Nest passes the context last, and a stack before it. */
  private write(
    level: 'fatal' | 'error' | 'warn' | 'info' | 'debug',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    const stack = rest.length > 1 ? rest[0] : undefined;
    this.pino[level]({ context, ...(stack === undefined ? {} : { stack: clean(stack) }) }, clean(message));
  }
}

/** Removes tokens and limits the length: a message may quote text of a client or a project's SQL. */
function clean(text: unknown): string {
  return String(text).slice(0, MAX_TEXT).replace(TOKEN, '[token]');
}

/** On a full disk, lines are lost and the process continues. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, maxLength: MAX_WAITING });
  output.on('error', () => undefined);
  return output;
}
