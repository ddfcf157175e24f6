/** What compiling needs beside the plan. */

export interface CompileInput {
  readonly catalogVersion: string;
  /** JSON of a write, any text of a call; null without a body. */
  readonly body: string | Buffer | null;
  readonly bodyIsList: boolean;
}
