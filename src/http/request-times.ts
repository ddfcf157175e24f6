/**
 * Measures how long a request has, or waits for, a connection to its project's database. Node's asynchronous context costs
 * every promise something, so it is used only while somebody watches.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { contextOf, type RequestTimes } from './request-context';

const current = new AsyncLocalStorage<RequestTimes>();
let watchers = 0;

/** Requests that start from now on are measured. @returns a function that ends the watch */
export function watchRequestTimes(): () => void {
  watchers += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    watchers -= 1;
    if (watchers === 0) current.disable();
  };
}

/** Starts the work of a request, which is measured while something watches. */
export function startMeasured(request: IncomingMessage, start: () => void): void {
  if (watchers === 0) return start();
  const times: RequestTimes = { database: 0, uses: 0, since: 0 };
  contextOf(request).times = times;
  current.run(times, start);
}

/** Milliseconds; null for a request that was not measured. */
export function databaseTimeOf(request: IncomingMessage): number | null {
  return request.context?.times?.database ?? request.context?.databaseMs ?? null;
}

/** Begins to measure. @returns a function to call at the end; undefined when nothing watches */
export function measureDatabase(): (() => void) | undefined {
  const times = watchers === 0 ? undefined : current.getStore();
  if (!times) return undefined;
  if (times.uses === 0) times.since = performance.now();
  times.uses += 1;
  return () => {
    times.uses -= 1;
    if (times.uses === 0) times.database += performance.now() - times.since;
  };
}
