/** Recognizes the unique violation of a second account with the same address. */
import { DatabaseError } from 'pg';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { emailTaken } from '../auth.errors';

export function isTakenAddress(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === UNIQUE_VIOLATION &&
    error.constraint === 'users_email_key'
  );
}

/** Runs a change that sets an address. @throws AppError 400 if another account has it */
export async function refusingTakenAddress<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    throw isTakenAddress(error) ? emailTaken(error) : error;
  }
}
