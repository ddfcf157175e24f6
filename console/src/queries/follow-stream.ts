/** A stream of server-sent events that is opened again when it ends. */
import type { EventSourceMessage } from 'eventsource-parser';
import { unreachable } from '../api/reachability';
import { ApiError, isTransient } from '../api/errors';
import { readServerEvents } from '../lib/server-events';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

interface Stream {
  /** @throws ApiError if the server refuses */
  readonly open: () => Promise<Response>;
  readonly onOpen: () => void;
  readonly onEvents: (events: readonly EventSourceMessage[]) => void;
  /**
   * @param error null if the stream ended after it was opened @returns true if another attempt may succeed after this
   * refusal
   */
  readonly onEnd: (error: ApiError | null) => boolean;
}

/**
 * Reads one stream after another, until the signal or a permanent refusal. Waits longer and longer before reopening
 * streams that end soon.
 */
export async function followStream(stream: Stream, signal: AbortSignal): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const began = Date.now();
    const error = await readStream(stream, signal);
    if (signal.aborted) return;
    if (Date.now() - began > MAX_PAUSE_MS) pause = FIRST_PAUSE_MS;
    if (!stream.onEnd(error) && error && !isTransient(error)) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

async function readStream({ open, onOpen, onEvents }: Stream, signal: AbortSignal): Promise<ApiError | null> {
  try {
    const response = await open();
    onOpen();
    await readServerEvents(response.body!, (events) => {
      if (signal.aborted) return;
      onEvents(events);
      for (const event of events) assertGoesOn(event);
    });
    return null;
  } catch (error) {
    if (signal.aborted) return null;
    return error instanceof ApiError ? error : unreachable();
  }
}

/** @throws ApiError with the reason, if this is the last event of a stream of changes */
function assertGoesOn({ event, data }: EventSourceMessage): void {
  if (event !== 'system') return;
  const { status, reason, message } = JSON.parse(data) as Record<'status' | 'reason' | 'message', string>;
  if (status === 'closed') throw new ApiError(reason === 'forbidden' ? 403 : 503, reason, message);
}
