/** Polls for a condition instead of sleeping. */

const POLL_MS = 20;
/** Not how long an effect may take: a worker may stand still for seconds while others load their files. */
const WAIT_TIMEOUT_MS = 20_000;

/** Repeats `check` until it does not throw. @throws the last error after `limitMs` */
export async function eventually(check: () => Promise<void>, limitMs = WAIT_TIMEOUT_MS): Promise<void> {
  const end = Date.now() + limitMs;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** Polls until a condition is true. @throws after `limitMs` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = WAIT_TIMEOUT_MS,
): Promise<void> {
  await eventually(async () => {
    if (!(await condition())) throw new Error(`not true within ${limitMs} ms: ${String(condition)}`);
  }, limitMs);
}
