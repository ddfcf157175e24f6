import { DATA_HEADER, STREAMED_DATA } from '../replication/replication-connection';
import { ChangeStream } from './change-stream';
import type { OpenSlot } from './feed-slots';

const COLUMNS = 1_600;

/** A message of pgoutput about a table (manual, 54.9). */
function relation(id: number): Buffer {
  const text = (value: string): Buffer => Buffer.from(`${value}\0`);
  const number = (value: number, bytes: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeIntBE(value, 0, bytes);
    return buffer;
  };
  const columns = Array.from({ length: COLUMNS }, (_, at) =>
    Buffer.concat([number(0, 1), text(`c${at}`), number(23, 4), number(-1, 4)]),
  );
  const head = [Buffer.from('R'), number(id, 4), text('public'), text(`t${id}`), Buffer.from('d')];
  return Buffer.concat([Buffer.alloc(DATA_HEADER, STREAMED_DATA), ...head, number(COLUMNS, 2), ...columns]);
}

it('ends when the tables that it remembers have too many columns', async () => {
  let read = 0;
  const messages = {
    isEmpty: false,
    // The same table twice, and then others.
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
  await expect(stream.run()).rejects.toThrow('too many tables have changed');
  expect(read).toBe(Math.floor(500_000 / COLUMNS) + 2);
  stream.close();
});
