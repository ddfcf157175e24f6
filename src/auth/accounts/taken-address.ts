/** Recognises the database's refusal of a second account with one address. */
import { DatabaseError } from 'pg';

const UNIQUE_VIOLATION = '23505';

export function isTakenAddress(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === UNIQUE_VIOLATION &&
    error.constraint === 'users_email_key'
  );
}
