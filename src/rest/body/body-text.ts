/** A body as text. */
import { isUtf8 } from 'node:buffer';
import type { AppError } from '../../common/errors/app-error';
import { invalidBody } from '../rest.errors';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AppError PL102 when it is not UTF-8, or holds a NUL, which PostgreSQL has no text for */
export function textOf(body: Buffer): string {
  if (body.includes(0)) throw holdsNul();
  try {
    return UTF8.decode(body);
  } catch (error) {
    throw notUtf8(error);
  }
}

/** As textOf(), for a large body that stays bytes: decoding it would take its size once or twice more. */
export function assertText(body: Buffer): void {
  if (body.includes(0)) throw holdsNul();
  if (!isUtf8(body)) throw notUtf8();
}

export const holdsNul = (): AppError =>
  invalidBody('The body holds a NUL character, which text in PostgreSQL cannot hold');

const notUtf8 = (cause?: unknown): AppError => invalidBody('The body is not valid UTF-8', cause);
