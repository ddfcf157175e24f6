/** The input of the compile stage besides the plan. */

export interface CompileInput {
  readonly catalogVersion: string;
  /** Whether the body of a write is a list of rows. */
  readonly bodyIsList: boolean;
  /** False while the schema is changing: PostgreSQL then prints the rows, with the columns that they have when the statement runs. */
  readonly printsRows: boolean;
}
