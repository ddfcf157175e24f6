/** The context that all commands share: the server and the output, tables and lists in plain text. */
import type { AgeConfig } from '../config/backup-config';
import type { Command } from 'commander';
import type { Readable, Writable } from 'node:stream';
import type { LocalConfig } from '../config/load-client-config';
import type { SavedLogins } from '../config/saved-logins';
import type { AdminClient } from './admin-client';
import { EXIT } from './cli-error';

export interface CliEnvironment {
  /** Called when a command needs the server: help works without a configuration. */
  readonly connect: () => AdminClient;
  /** For `plinth login` and `plinth logout`. */
  readonly signIn: {
    /** PUBLIC_URL. */
    readonly server: () => string;
    readonly logins: () => SavedLogins;
    /** Asks at the terminal. @param hidden the answer does not appear */
    readonly ask: (question: string, hidden: boolean) => Promise<string>;
  };
  /** BACKUP_PASSPHRASE; null: not set. */
  readonly passphrase: () => string | null;
  /** BACKUP_RECIPIENTS and BACKUP_IDENTITY_FILE. */
  readonly ageKeys: () => AgeConfig;
  /** The settings of an install on this machine, which need not run. */
  readonly localInstall: () => LocalConfig;
  readonly readStdin: () => Promise<string>;
  /** Called by a command that runs until it is interrupted. */
  readonly untilInterrupted: () => AbortSignal;
  /** Streams for archives. */
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Whether `err` writes to a terminal. */
  readonly isTerminal: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export class CommandContext {
  /** Exit code of a command that ran to its end. */
  exitCode = 0;
  private client: AdminClient | undefined;

  constructor(
    private readonly program: Command,
    readonly environment: CliEnvironment,
  ) {}

  /** `--json` may stand before or after the command. */
  get isJson(): boolean {
    return this.program.opts<{ json?: boolean }>().json === true;
  }

  get server(): AdminClient {
    this.client ??= this.environment.connect();
    return this.client;
  }

  /** The operations of the server; dataOf() gives their results. */
  get api(): AdminClient['api'] {
    return this.server.api;
  }

  /** Prints JSON with --json, else text. */
  print(answer: unknown, text: () => string): void {
    this.environment.out(this.isJson ? `${JSON.stringify(answer, null, 2)}\n` : text());
  }

  /** Makes the command exit with EXIT.failed after its output, which --json keeps as the only document. */
  reportFailure(text: string): void {
    this.remark(text);
    this.exitCode = EXIT.failed;
  }

  /** A note on standard error, which scripts that read standard output do not see. */
  remark(text: string): void {
    if (!this.isJson) this.environment.err(`${text}\n`);
  }
}

type Row = Readonly<Record<string, unknown>>;

/** A table with a heading; numbers are right-aligned. Without rows, a line that says so. */
export function table(rows: readonly Row[], columns?: readonly string[]): string {
  const names = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (rows.length === 0 || names.length === 0) return '(no rows)\n';
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const isNumber = names.map((name) =>
    rows.every((row) => /^(-?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)|NaN)?$/.test(cell(row[name]))),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) =>
        isNumber[column] ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${[line(names), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')}\n`;
}

/** Lines of the form `name value`. */
export function list(record: Row): string {
  const entries = Object.entries(record);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return inOneLine(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Replaces control characters other than tabs and line breaks: text of a database must not send commands to the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, ' ');

/** Printable, without tabs and line breaks. */
export const inOneLine = (text: string): string => printable(text).replace(/[\t\n]/g, ' ');
