/** Whether the server answers. A call that fails without an answer starts a poll until the server answers again. */
import { useSyncExternalStore } from 'react';
import { CONSOLE_PATH } from './base-url';
import { ApiError } from './errors';

const POLL_INTERVAL_MS = 1_500;

let isReachable = true;
const listeners = new Set<() => void>();

export function noteUnreachable(): void {
  if (!isReachable) return;
  set(false);
  void poll();
}

export function unreachable(): ApiError {
  noteUnreachable();
  return new ApiError(0, 'unreachable', 'The server did not answer');
}

export function useIsReachable(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isReachable,
  );
}

/** True if the server sends any response. A proxy answers 502 to 504 while the server is unreachable. */
export async function answers(): Promise<boolean> {
  const response = await fetch(`${CONSOLE_PATH}/`, { method: 'HEAD', cache: 'no-store' }).catch(() => null);
  return response !== null && response.status < 500;
}

async function poll(): Promise<void> {
  while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  set(true);
}

function set(next: boolean): void {
  isReachable = next;
  for (const listener of listeners) listener();
}
