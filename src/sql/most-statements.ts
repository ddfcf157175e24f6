/** The limit for the statements of a request: each takes memory and time of this process, even an empty one. */
import { mayHaveMoreStatements, splitStatements } from '../common/text/sql-statements';
import { tooManyStatements } from './sql.errors';

export const MOST_STATEMENTS = 20_000;

/** @throws AppError 400, before any of them has run */
export async function assertFewStatements(script: string): Promise<void> {
  if (!mayHaveMoreStatements(script, MOST_STATEMENTS)) return;
  const statements = await splitStatements(script, MOST_STATEMENTS);
  if (statements.length > MOST_STATEMENTS) throw tooManyStatements(MOST_STATEMENTS);
}
