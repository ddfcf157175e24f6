/**
 * Splits SQL scripts one at a time: a project's scripts wait for each other, and projects take turns. Splitting yields to the event
 * loop, so a project that sends many scripts would otherwise take all of its free time.
 */
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/app-error';
import { Slots } from './slots';

const CONCURRENCY = 1;
/** Each holds a body of up to a MiB. */
const MAX_WAITING = 50;
/** Characters. A shorter script is split within milliseconds. */
const LARGE_SCRIPT = 64 * 1024;

@Injectable()
export class ScriptQueue {
  private readonly slots = new Slots(CONCURRENCY, MAX_WAITING);

  /** @param length characters of all scripts @throws AppError 503 when too many scripts wait */
  split<T>(projectId: string, length: number, work: () => Promise<T>): Promise<T> {
    return length < LARGE_SCRIPT ? work() : this.slots.use(work, tooManyScripts, projectId);
  }
}

const tooManyScripts = (): AppError =>
  new AppError({
    status: 503,
    code: 'service_unavailable',
    message: 'Too many large SQL scripts wait to be split: try again in a moment',
    headers: { 'Retry-After': '2' },
    database: { sqlstate: 'PL503' },
  });
