/** The maximum number of statements in a request: each takes memory and time of this process, even an empty one. */
import { mayHaveMoreStatements, splitStatements } from '../common/text/sql-statements';
import { tooManyStatements } from './sql.errors';

export const MAX_STATEMENTS = 20_000;

/** @throws AppError 400 for too many statements, before any of them has run */
export async function assertFewStatements(script: string): Promise<void> {
  if (!mayHaveMoreStatements(script, MAX_STATEMENTS)) return;
  const statements = await splitStatements(script, MAX_STATEMENTS);
  if (statements.length > MAX_STATEMENTS) throw tooManyStatements(MAX_STATEMENTS);
}
