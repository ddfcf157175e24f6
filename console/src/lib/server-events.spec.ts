import { readServerEvents } from './server-events';

async function read(...pieces: readonly string[]): Promise<(readonly [string | undefined, string])[]> {
  const events: (readonly [string | undefined, string])[] = [];
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  await readServerEvents(body, (found) =>
    events.push(...found.map(({ event, data }) => [event, data] as const)),
  );
  return events;
}

it('reads events that arrive in pieces, and omits comments', async () => {
  const pieces = [': connected\n\nevent: request\nda', 'ta: {"a":\ndata: 1}\n', '\ndata: x\r\n\r\n:\n\n'];
  expect(await read(...pieces)).toEqual([
    ['request', '{"a":\n1}'],
    [undefined, 'x'],
  ]);
});

it('refuses an event without an end', async () => {
  const piece = `data: ${'x'.repeat(400_000)}\n`;
  await expect(read(piece, piece, piece)).rejects.toThrow(/1000000 characters/);
});
