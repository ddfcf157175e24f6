import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { RowCollector } from '../../row-stream/row-collector';
import { ValueRows } from './value-rows';

const NOTHING = Buffer.alloc(0);

function collector(): RowCollector {
  return new RowCollector(new ServerResponse(new IncomingMessage(new Socket())), {
    format: { head: NOTHING, separator: Buffer.from(','), tail: NOTHING, isLine: false },
    begin: null,
    stopsWithClient: false,
    keepsFirst: false,
    client: () => '',
    hold: () => ({ grow: () => undefined, release: () => undefined }),
    writes: false,
  });
}

/** A row as PostgreSQL sends it. */
function rowOf(...values: string[]): Buffer {
  return Buffer.concat(
    values.flatMap((value) => {
      const length = Buffer.alloc(4);
      length.writeInt32BE(Buffer.byteLength(value));
      return [length, Buffer.from(value)];
    }),
  );
}

describe('a large row', () => {
  const VALUE = JSON.stringify({ a: 'ä'.repeat(200) });
  it.each([
    ['a value', rowOf(VALUE), null],
    ['a value and a total', rowOf(VALUE, '1234'), 1234],
  ])('gives the same result wherever it is cut: %s', (_what, row, total) => {
    for (let cut = 0; cut <= row.length; cut += 1) {
      const rows = collector();
      const sink = new ValueRows(rows, { rows: 0 });
      for (let times = 0; times < 2; times += 1) {
        sink.onRowPart(row, 0, cut, false);
        sink.onRowPart(row, cut, row.length, true);
      }
      expect([cut, rows.total]).toEqual([cut, total]);
      expect(Buffer.concat(rows.finish() ?? []).toString()).toBe(`${VALUE},${VALUE}`);
    }
  });

  it('gives the same result byte by byte', () => {
    const row = rowOf(VALUE, '7');
    const rows = collector();
    const sink = new ValueRows(rows, { rows: 0 });
    for (let at = 0; at < row.length; at += 1) sink.onRowPart(row, at, at + 1, at + 1 === row.length);
    expect(rows.total).toBe(7);
    expect(Buffer.concat(rows.finish() ?? []).toString()).toBe(VALUE);
  });
});
