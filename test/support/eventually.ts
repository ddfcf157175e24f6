/** Polls for a condition instead of sleeping. */

const POLL_MS = 20;

/** Repeats `check` until it does not throw. @throws the last error after `limitMs` */
export async function eventually(check: () => Promise<void>, limitMs = 5_000): Promise<void> {
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
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 5_000): Promise<void> {
  await eventually(async () => {
    if (!(await condition())) throw new Error(`not true within ${limitMs} ms: ${String(condition)}`);
  }, limitMs);
}
