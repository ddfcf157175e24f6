/** Rows and messages arrive whole and in order, wherever the bytes are cut. */
import { readRow, type RowSink } from './statement';
import { RowSplitter, type RunningQuery } from './row-splitter';

function message(code: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(code, 0, 'latin1');
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function row(...values: (string | null)[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(values.length);
  const columns = values.map((value) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
    return Buffer.concat([length, Buffer.from(value ?? '')]);
  });
  return message('D', Buffer.concat([count, ...columns]));
}

const BIND = message('2', Buffer.alloc(0));
const COMPLETE = message('C', Buffer.from('SELECT 2\0'));
const READY = message('Z', Buffer.from('I'));
const STREAM = Buffer.concat([
  BIND,
  row('of a statement without a sink'),
  COMPLETE,
  BIND,
  row('{"a":"ü"}', null),
  row('', 'x'.repeat(50)),
  COMPLETE,
  READY,
]);

const unexpected = (error: unknown): void => {
  throw error;
};

/** Splits STREAM in pieces of `size` bytes. */
function split(size: number): {
  rows: (string | null)[][];
  others: Buffer;
  order: string[];
  counts: number[];
} {
  const rows: (string | null)[][] = [];
  const others: Buffer[] = [];
  const order: string[] = [];
  const counts: number[] = [];
  const sink: RowSink = {
    onRow: (...where) => {
      order.push('row');
      rows.push(readRow(...where).map((value) => value?.toString() ?? null));
    },
  };
  const query: RunningQuery = {
    onReady: () => false,
    admitsRow: () => true,
    get sink() {
      return counts.length > 0 ? sink : undefined;
    },
    onCommandComplete: (rowCount) => {
      order.push('complete');
      counts.push(rowCount);
    },
    fail: unexpected,
  };
  const splitter = new RowSplitter(
    () => query,
    (bytes) => {
      others.push(Buffer.from(bytes));
      order.push('others');
    },
  );
  // All pieces share one buffer, as when a socket reads.
  const memory = Buffer.alloc(size);
  for (let at = 0; at < STREAM.length; at += size) {
    const arrived = STREAM.copy(memory, 0, at, at + size);
    splitter.push(memory.subarray(0, arrived));
  }
  return { rows, others: Buffer.concat(others), order, counts };
}

describe('RowSplitter', () => {
  it.each(Array.from({ length: 60 }, (_, index) => index + 1).concat(STREAM.length))(
    'separates rows from other messages that arrive in pieces of %i bytes',
    (size) => {
      const { rows, others, counts } = split(size);
      expect(rows).toEqual([
        ['{"a":"ü"}', null],
        ['', 'x'.repeat(50)],
      ]);
      expect(counts).toEqual([2, 2]);
      const forwarded = Buffer.concat([row('of a statement without a sink'), READY]);
      expect(others.toString('latin1')).toBe(forwarded.toString('latin1'));
    },
  );

  it('forwards messages between rows in one piece, in order', () => {
    expect(split(STREAM.length).order).toEqual(['others', 'complete', 'row', 'row', 'complete', 'others']);
  });

  it.each([1_000, 65_536, 300_000])('passes on large rows in parts of at most %i bytes', (size) => {
    const large = row('x'.repeat(400_000), null, 'y');
    const stream = Buffer.concat([row('a'), large, row('b'), large, COMPLETE]);
    const taken: string[] = [];
    let parts: Buffer[] = [];
    const sink: RowSink = {
      onRow: (bytes, start, end) => taken.push(bytes.toString('latin1', start, end)),
      onRowPart: (bytes, start, end, isLast) => {
        expect(end - start).toBeLessThanOrEqual(size);
        parts.push(Buffer.from(bytes.subarray(start, end)));
        if (!isLast) return;
        taken.push(Buffer.concat(parts).toString('latin1'));
        parts = [];
      },
    };
    const query: RunningQuery = {
      onReady: () => false,
      admitsRow: () => true,
      sink,
      onCommandComplete: (rowCount) => taken.push(`${rowCount} rows`),
      fail: unexpected,
    };
    const splitter = new RowSplitter(
      () => query,
      () => taken.push('others'),
    );
    for (let at = 0; at < stream.length; at += size) splitter.push(stream.subarray(at, at + size));
    const [a, b, one] = [row('a'), row('b'), large].map((each) => each.toString('latin1', 7));
    expect(taken).toEqual([a, one, b, one, '2 rows']);
  });

  it.each([
    ['INSERT 0 5', 5],
    ['SELECT 1203', 1203],
    ['SELECT 0', 0],
    ['COPY 10', 10],
    ['RESET', 0],
    ['CREATE TABLE', 0],
    ['', 0],
  ])('reads the number of rows from the tag %j', (tag, expected) => {
    const counts: number[] = [];
    const query: RunningQuery = {
      onReady: () => false,
      admitsRow: () => true,
      sink: undefined,
      onCommandComplete: (rowCount) => counts.push(rowCount),
      fail: unexpected,
    };
    new RowSplitter(
      () => query,
      () => undefined,
    ).push(message('C', Buffer.from(`${tag}\0`)));
    expect(counts).toEqual([expected]);
  });

  it.each([1, 7, 1_000, 65_536, 900_000])('skips rows that are not wanted, in pieces of %i bytes', (size) => {
    const unwanted = row('x'.repeat(300_000), null);
    const stream = Buffer.concat([
      row('a'),
      unwanted,
      row('b'),
      COMPLETE,
      row('c'),
      unwanted,
      COMPLETE,
      READY,
    ]);
    for (const hasSink of [true, false]) {
      const rows: string[] = [];
      const others: Buffer[] = [];
      const sink: RowSink = {
        onRow: (...where) => rows.push(String(readRow(...where)[0])),
        onRowPart: () => rows.push('part'),
      };
      const query: RunningQuery = {
        onReady: () => false,
        admitsRow: (length) => length < 1_000,
        sink: hasSink ? sink : undefined,
        onCommandComplete: () => rows.push('complete'),
        fail: unexpected,
      };
      const splitter = new RowSplitter(
        () => query,
        (bytes) => others.push(Buffer.from(bytes)),
      );
      for (let at = 0; at < stream.length; at += size) splitter.push(stream.subarray(at, at + size));
      const forwarded = hasSink ? [READY] : [row('a'), row('b'), row('c'), READY];
      expect(rows).toEqual(hasSink ? ['a', 'b', 'complete', 'c', 'complete'] : ['complete', 'complete']);
      expect(Buffer.concat(others).equals(Buffer.concat(forwarded))).toBe(true);
    }
  });

  it.each([1_000, 65_536, 900_000])(
    'skips the rest of a large row that is refused, in pieces of %i bytes',
    (size) => {
      const stream = Buffer.concat([row('a'), row('x'.repeat(300_000)), row('b'), COMPLETE, READY]);
      const failures: unknown[] = [];
      const refuse = (): never => {
        throw new Error('refused');
      };
      const others: Buffer[] = [];
      const counts: number[] = [];
      const query: RunningQuery = {
        onReady: () => false,
        admitsRow: () => failures.length === 0,
        sink: {
          onRow: (_bytes, start, end) => (end - start > 1_000 ? refuse() : undefined),
          onRowPart: refuse,
        },
        onCommandComplete: (rowCount) => counts.push(rowCount),
        fail: (error) => failures.push(error),
      };
      const splitter = new RowSplitter(
        () => query,
        (bytes) => others.push(Buffer.from(bytes)),
      );
      for (let at = 0; at < stream.length; at += size) splitter.push(stream.subarray(at, at + size));
      expect(failures).toEqual([new Error('refused')]);
      expect(counts).toEqual([2]);
      expect(Buffer.concat(others).equals(READY)).toBe(true);
    },
  );

  it('forwards everything while no query runs', () => {
    const others: Buffer[] = [];
    new RowSplitter(
      () => undefined,
      (bytes) => others.push(bytes),
    ).push(STREAM);
    expect(Buffer.concat(others)).toEqual(STREAM);
  });
});
