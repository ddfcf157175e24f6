/** Polls for a condition instead of sleeping. */

const POLL_MS = 20;
/** Share of the time waited so far that passes until the next check. A check is often a request. */
const POLL_SHARE = 0.15;
const MAX_POLL_MS = 500;
/** A generous limit instead of an expected duration: a busy machine can stall for several seconds. */
const WAIT_TIMEOUT_MS = 60_000;

/** Repeats `check` until it does not throw. @throws the last error after a minute, or after `limitMs` if that is longer */
export async function eventually(check: () => Promise<void>, limitMs = WAIT_TIMEOUT_MS): Promise<void> {
  const began = Date.now();
  const end = began + Math.max(limitMs, WAIT_TIMEOUT_MS);
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      const waited = Date.now() - began;
      const pause = Math.min(MAX_POLL_MS, Math.max(POLL_MS, waited * POLL_SHARE));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/**
 * The limit for a response that is expected within `ms`. It is longer on a busy machine, where the cheap
 * request `other` takes long, too.
 */
export async function limitDuring(
  work: Promise<unknown>,
  ms: number,
  other: () => Promise<unknown>,
): Promise<number> {
  let slowest = 50;
  let isOver = false;
  const end = work.finally(() => (isOver = true)).catch(() => undefined);
  while (!isOver) {
    const began = performance.now();
    await other();
    slowest = Math.max(slowest, performance.now() - began);
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 5 * POLL_MS))]);
  }
  return ms + 20 * slowest;
}

/** Polls until a condition is true. @throws as eventually() does */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = WAIT_TIMEOUT_MS,
): Promise<void> {
  await eventually(async () => {
    if (!(await condition())) throw new Error(`it did not become true: ${String(condition)}`);
  }, limitMs);
}
