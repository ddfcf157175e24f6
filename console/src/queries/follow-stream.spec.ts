import type { ApiError } from '../api/errors';

let followStream: typeof import('./follow-stream').followStream;

beforeAll(async () => {
  // The module base-url.ts reads the address of the page.
  Object.assign(globalThis, { document: { baseURI: 'http://plinth.test/console/' } });
  ({ followStream } = await import('./follow-stream'));
});

const closed = (reason: string): string =>
  `event: ready\ndata: {}\n\nevent: system\ndata: ${JSON.stringify({ status: 'closed', reason, message: `Why ${reason}`, position: null })}\n\n`;

/** Follows, for a minute, streams that open and immediately end with a text. */
async function follow(text: string): Promise<{ opened: number; errors: (ApiError | null)[] }> {
  jest.useFakeTimers();
  const abort = new AbortController();
  const errors: (ApiError | null)[] = [];
  let opened = 0;
  const following = followStream(
    {
      open: async () => new Response(text),
      onOpen: () => (opened += 1),
      onEvents: () => undefined,
      onEnd: (error) => {
        errors.push(error);
        return false;
      },
    },
    abort.signal,
  );
  for (let second = 0; second < 60; second += 1) await jest.advanceTimersByTimeAsync(1_000);
  abort.abort();
  await jest.advanceTimersByTimeAsync(60_000);
  await following;
  jest.useRealTimers();
  return { opened, errors };
}

it('ends with the reason when the server refuses to continue', async () => {
  const { opened, errors } = await follow(closed('forbidden'));
  expect(opened).toBe(1);
  expect(errors).toMatchObject([{ status: 403, code: 'forbidden', message: 'Why forbidden' }]);
});

it.each([closed('slow'), 'event: ready\ndata: {}\n\n'])(
  'waits longer and longer before reopening streams that end immediately: %j',
  async (text) => {
    const { opened } = await follow(text);
    expect(opened).toBeGreaterThan(3);
    expect(opened).toBeLessThan(10);
  },
);
