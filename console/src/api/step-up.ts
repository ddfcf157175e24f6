/** Sensitive calls need a recent confirmation of identity. The client requests one here, and StepUpDialog asks for it. */
import { useSyncExternalStore } from 'react';
import { PLINTH_URL } from './base-url';
import { toApiError } from './errors';
import { sessionHeaders } from './session';

type Answer = (isConfirmed: boolean) => void;

let asked: Promise<boolean> | null = null;
let answer: Answer | null = null;
const listeners = new Set<() => void>();

function setAnswer(next: Answer | null): void {
  answer = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Concurrent calls share one question. @returns false if the staff member does not confirm */
export function askToConfirm(): Promise<boolean> {
  asked ??= new Promise<boolean>(setAnswer).finally(() => {
    asked = null;
    setAnswer(null);
  });
  return asked;
}

/** The function that answers the open question; null if no question is open. */
export const useConfirmation = (): Answer | null => useSyncExternalStore(subscribe, () => answer);

/**
 * Does not use the client, which takes a 401 as the end of the session.
 * @throws ApiError for a wrong proof
 */
export async function confirmSession(proof: object): Promise<void> {
  const response = await fetch(`${PLINTH_URL}/admin/v1/session/confirm`, {
    method: 'POST',
    headers: { ...sessionHeaders(), 'Content-Type': 'application/json' },
    credentials: 'same-origin',
    body: JSON.stringify(proof),
  });
  if (!response.ok) throw toApiError(response, await response.json());
}
