/** The same bytes as pg-protocol's serializer writes, except that Bind lists no formats if all values are texts. */
import { serialize } from 'pg-protocol';
import { MessageWriter, type WireValue } from './message-writer';
import { BINARY, TEXT } from './protocol';

const written = (write: (writer: MessageWriter) => void, writer = new MessageWriter()): Buffer => {
  write(writer);
  return writer.take();
};

describe('MessageWriter', () => {
  it('writes every message as the protocol requires', () => {
    expect(written((writer) => writer.parse('näme', 'select $1'))).toEqual(
      serialize.parse({ name: 'näme', text: 'select $1' }),
    );
    expect(written((writer) => writer.describePortal())).toEqual(serialize.describe({ type: 'P' }));
    expect(written((writer) => writer.execute())).toEqual(serialize.execute());
    expect(written((writer) => writer.closeStatement('n'))).toEqual(
      serialize.close({ type: 'S', name: 'n' }),
    );
    expect(written((writer) => writer.sync())).toEqual(serialize.sync());
  });

  const binary = Buffer.from([0, 1, 255]);
  const VALUES: [what: string, values: WireValue[]][] = [
    ['bytes', [binary, 'text', null]],
    ['long bytes', [Buffer.alloc(100_000, 7), '']],
    ['bytes after a long text', ['ü'.repeat(100_000), binary]],
  ];
  it.each(VALUES)('binds %s', (_what, values) => {
    const expected = serialize.bind({ statement: 'name', values, binary: true });
    expect(written((writer) => writer.bind('name', values, [BINARY])).equals(expected)).toBe(true);
  });

  it('does not copy large bytes', () => {
    const [first, second] = [Buffer.alloc(1024 * 1024, 1), Buffer.alloc(2 * 1024 * 1024, 2)];
    const values = [first, 'text', second, binary];
    const writer = new MessageWriter();
    writer.sync();
    writer.bind('name', values, [BINARY]);
    writer.bind('other', [binary], [BINARY]);
    expect(writer.hasLarge).toBe(true);
    const parts = writer.takeParts();
    expect([parts[1] === first, parts[3] === second, writer.hasLarge]).toEqual([true, true, false]);
    const expected = [
      serialize.sync(),
      serialize.bind({ statement: 'name', values, binary: true }),
      serialize.bind({ statement: 'other', values: [binary], binary: true }),
    ];
    expect(Buffer.concat(parts).equals(Buffer.concat(expected))).toBe(true);
  });

  it('binds texts without a list of their formats, and requests the formats of the columns', () => {
    const parts = [
      [0],
      Buffer.from('n\0'),
      [0, 0],
      [0, 2],
      [0, 0, 0, 2],
      Buffer.from('é'),
      [255, 255, 255, 255],
    ];
    const body = Buffer.concat([...parts, [0, 2], [0, 0], [0, 1]].map((part) => Buffer.from(part)));
    const head = Buffer.alloc(5, 'B');
    head.writeInt32BE(body.length + 4, 1);
    expect(written((writer) => writer.bind('n', ['é', null], [TEXT, BINARY]))).toEqual(
      Buffer.concat([head, body]),
    );
  });

  it('never changes bytes that it has returned', () => {
    const writer = new MessageWriter();
    for (const size of [10, 50_000, 10, 1_000_000, 10]) {
      const first = written((one) => one.parse('', 'a'.repeat(size)), writer);
      const copy = Buffer.from(first);
      written((one) => one.parse('', 'b'.repeat(size)), writer);
      expect(first.equals(copy)).toBe(true);
    }
  });
});
