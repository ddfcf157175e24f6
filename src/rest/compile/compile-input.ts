/** What compiling needs beside the plan. */

export interface CompileInput {
  readonly catalogVersion: string;
  /** Whether the body of a write is a list of rows. */
  readonly bodyIsList: boolean;
  /** False while the schema is changing: PostgreSQL prints rows with whatever columns they have when it runs. */
  readonly printsRows: boolean;
}
