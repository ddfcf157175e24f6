/** Something went wrong, in one line for a person; what the server said, for --json. */
export class CliError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
    /** The `error` object of the server's answer. */
    readonly answer?: unknown,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** What scripts can tell apart (docs/administration.md). */
export const EXIT = { failed: 1, usage: 2, notFound: 3, noServer: 4 } as const;
