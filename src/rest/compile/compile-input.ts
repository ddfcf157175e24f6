/** What compiling needs beside the plan. */

export interface CompileInput {
  readonly catalogVersion: string;
  /** Whether the body of a write is a list of rows. */
  readonly bodyIsList: boolean;
}
