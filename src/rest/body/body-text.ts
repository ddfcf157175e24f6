/** A body as text. */
import { isUtf8 } from 'node:buffer';
import { Slices } from '../../common/time/slices';
import type { AppError } from '../../common/errors/app-error';
import { invalidBody } from '../rest.errors';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws AppError PL102 when the body is not UTF-8, or contains NUL, which PostgreSQL's type text cannot store */
export function textOf(body: Buffer): string {
  if (body.includes(0)) throw holdsNul();
  try {
    return UTF8.decode(body);
  } catch (error) {
    throw notUtf8(error);
  }
}

/** Bytes that are decoded in one piece. */
const PIECE = 256 * 1024;

/** Like textOf(), in slices. */
export async function textInSlices(body: Buffer): Promise<string> {
  if (body.length <= PIECE) return textOf(body);
  if (body.includes(0)) throw holdsNul();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const slices = new Slices();
  let text = '';
  try {
    for (let at = 0; at < body.length; at += PIECE) {
      text += decoder.decode(body.subarray(at, at + PIECE), { stream: true });
      if (slices.isOver) await slices.yieldToLoop();
    }
    return text + decoder.decode();
  } catch (error) {
    throw notUtf8(error);
  }
}

/** Makes the check of textOf() for a large body that stays bytes: decoding it would take once or twice its size in addition. */
export function assertText(body: Buffer): void {
  if (body.includes(0)) throw holdsNul();
  if (!isUtf8(body)) throw notUtf8();
}

export const holdsNul = (): AppError =>
  invalidBody('The body holds a NUL character, which text in PostgreSQL cannot hold');

const notUtf8 = (cause?: unknown): AppError => invalidBody('The body is not valid UTF-8', cause);
