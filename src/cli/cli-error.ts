/** The `error` object of the server's response, as far as the command line reads it. */
export interface ErrorAnswer {
  readonly code?: string;
  readonly database?: {
    readonly location?: { readonly line: number; readonly column: number } | null;
    readonly hint?: string | null;
  };
  readonly migration?: { readonly version: string; readonly name: string };
}

/** An error of a command: one line of text, and the server's response for --json. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    readonly answer?: ErrorAnswer,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** Exit codes (docs/reference/administration.md). */
export const EXIT = { failed: 1, usage: 2, notFound: 3, noServer: 4 } as const;
