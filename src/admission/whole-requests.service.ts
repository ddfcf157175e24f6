/**
 * Admits requests that occupy this process from beginning to end: large SQL, large migrations, dumps of a schema, restores. A
 * tenant has one of them at a time; tenants do not wait for each other.
 */
import { Injectable } from '@nestjs/common';
import { type AppError, busy } from '../common/errors/app-error';
import { Slots } from './slots';

/** Maximum number of waiting requests of all tenants together. Each may hold a body of up to a MiB. */
const MAX_WAITING = 50;
const WAIT_TIMEOUT_MS = 60_000;
/** In characters. A shorter script takes only milliseconds. */
const LARGE_SCRIPT = 64 * 1024;

@Injectable()
export class WholeRequests {
  private readonly slots = new Slots(Infinity, MAX_WAITING, { perTenant: 1, waitTimeoutMs: WAIT_TIMEOUT_MS });

  /**
   * @param tenant a project's id, or an id of the restore
   * @param abandoned aborted when the client disconnects: the request leaves the queue
   * @throws AppError 503 when too many requests wait, or another one takes too long
   */
  runRequest<T>(tenant: string, work: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
    return this.slots.use(work, tooManyRequests, tenant, abandoned);
  }

  /** Like runRequest(), for a script of this many characters. A small script does not wait. */
  runScript<T>(project: string, length: number, work: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
    return length < LARGE_SCRIPT ? work() : this.runRequest(project, work, abandoned);
  }
}

const tooManyRequests = (): AppError =>
  busy('Another large request of this project is running: try again in a moment');
