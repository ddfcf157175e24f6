/** Ends work that nobody waits for any more. */
import { restoreAbandoned } from './backup.errors';

/**
 * The outcome of `work`. It rejects immediately when the signal is aborted, while the work may still run: the caller then
 * closes what the work uses, which ends it.
 * @throws AppError 400 after the abort; else the error of `work`
 */
export async function unlessAbandoned<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw restoreAbandoned();
  let refuse = (): void => undefined;
  const abandoned = new Promise<never>((_resolve, reject) => {
    refuse = () => reject(restoreAbandoned());
  });
  signal.addEventListener('abort', refuse);
  try {
    return await Promise.race([work(), abandoned]);
  } finally {
    signal.removeEventListener('abort', refuse);
  }
}
