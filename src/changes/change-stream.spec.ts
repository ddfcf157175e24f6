import { DATA_HEADER, STREAMED_DATA } from '../replication/replication-connection';
import { ChangeStream } from './change-stream';
import type { OpenSlot } from './feed-slots';

const COLUMNS = 1_600;

// Messages of pgoutput (manual, 54.9).
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const number = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, bytes - Math.min(bytes, 6), Math.min(bytes, 6));
  return buffer;
};
const message = (kind: string, ...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.alloc(DATA_HEADER, STREAMED_DATA), Buffer.from(kind), ...parts]);

function relation(id: number, count = COLUMNS): Buffer {
  const columns = Array.from({ length: count }, (_, at) =>
    Buffer.concat([number(0, 1), text(`c${at}`), number(23, 4), number(-1, 4)]),
  );
  const head = [number(id, 4), text('public'), text(`t${id}`), Buffer.from('d')];
  return message('R', ...head, number(count, 2), ...columns);
}
const begin = (commit: number): Buffer => message('B', number(commit, 8), number(0, 8), number(1, 4));
const insertNull = (id: number): Buffer =>
  message('I', number(id, 4), Buffer.from('N'), number(1, 2), Buffer.from('n'));

/** A slot that returns the messages, and then waits forever. */
function slotOf(messages: Buffer[]): OpenSlot {
  const next = (): Promise<Buffer> => {
    const first = messages.shift();
    return first ? Promise.resolve(first) : new Promise(() => undefined);
  };
  const copy = (): object => ({ isEmpty: false, next });
  return { connection: { copy, close: () => undefined }, name: 's' } as unknown as OpenSlot;
}

it('ends when the remembered tables have too many columns', async () => {
  let read = 0;
  const messages = {
    isEmpty: false,
    // Sends the same table twice, and then other tables.
    next: () => Promise.resolve(read < 1_000 ? relation(Math.max(1, (read += 1) - 1)) : undefined),
  };
  const connection = { copy: () => messages, close: () => undefined };
  const handler = {
    wants: () => false,
    onChanges: () => Promise.resolve(),
    onTruncated: () => undefined,
    onDone: () => undefined,
  };
  const stream = new ChangeStream({ connection, name: 's' } as unknown as OpenSlot, 0n, handler);
  await expect(stream.readChanges()).rejects.toThrow('too many tables have changed');
  expect(read).toBe(Math.floor(500_000 / COLUMNS) + 2);
  stream.close();
});

it('makes a new subscriber read again a change that had no recipient', async () => {
  const messages = [relation(1, 1), begin(100), insertNull(1), insertNull(1)];
  const handler = {
    wants: () => false,
    onChanges: () => Promise.resolve(),
    onTruncated: () => undefined,
    onDone: () => undefined,
  };
  const stream = new ChangeStream(slotOf(messages), 1n, handler);
  void stream.readChanges();
  await new Promise(setImmediate);
  expect(messages).toEqual([]);
  // In the middle of the commit: a subscriber that joins after the first change has missed the second one.
  expect(stream.begun).toEqual({ commit: 100n, index: 2 });
  stream.close();
});
