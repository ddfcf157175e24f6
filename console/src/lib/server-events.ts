/** Server-sent events from the body of a response, because EventSource cannot send an Authorization header. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** Maximum characters of an event. A longer event ends the stream: memory must not grow with the input of a server. */
const MAX_EVENT_CHARACTERS = 1_000_000;

/**
 * Calls back with the events that each part of the stream completes.
 * @throws Error if an event is longer than a million characters
 */
export async function readServerEvents(
  body: ReadableStream<Uint8Array>,
  onEvents: (events: readonly EventSourceMessage[]) => void,
): Promise<void> {
  const complete: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: (event) => complete.push(event),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
    if (complete.length > 0) onEvents(complete.splice(0));
  }
}
