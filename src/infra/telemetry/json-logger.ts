/** Nest's logger interface over pino: one JSON object a line, at the configured level. */
import { LoggerService } from '@nestjs/common';
import pino, { type Logger } from 'pino';

/** Nest's own start-up steps: of interest when something does not start. */
const FRAMEWORK = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Context of the errors that Nest logs before it throws them again: main.ts prints those. */
const RETHROWN = 'ExceptionHandler';

export class JsonLogger implements LoggerService {
  private readonly pino: Logger;

  constructor(level: string) {
    this.pino = pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime });
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
    this.pino[level]({ context, ...(stack === undefined ? {} : { stack }) }, String(message));
  }
}
