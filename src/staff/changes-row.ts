/** Whether a statement changed a row of the platform database. */

interface Connection {
  query<Rows>(statement: string, values: unknown[]): Promise<Rows>;
}

/** @param statement must have `returning`. It runs inside a select, because TypeORM returns the rows of a select only */
export async function changesRow(
  connection: Connection,
  statement: string,
  values: readonly unknown[],
): Promise<boolean> {
  const text = `with changed as (${statement}) select from changed`;
  return (await connection.query<unknown[]>(text, [...values])).length > 0;
}
