import { int64, rowOf, type Value } from '../../../test/support/row-of';
import { fixed, json, ListedRow, nullable, text } from './listed-row';

const ROW = new ListedRow('files', [
  fixed('id', 'uuid'),
  text('name', 4),
  fixed('size', 'int8'),
  nullable(fixed('owner', 'uuid')),
  json('metadata', 'object', 100),
  nullable(json('types', 'texts', 100)),
  fixed('at', 'instant'),
]);
const OIDS = [2950, 25, 20, 2950, 3802, 114, 1184];
const UUID = Buffer.alloc(16, 7);
const SOUND: Value[] = [UUID, 'name', int64(43n), null, '{"a": 1}', '["a"]', int64(0n)];
const REFUSED = expect.objectContaining({ code: 'storage_unavailable', status: 500 }) as Error;

/** The row with one of its values replaced. */
function check(index: number, value: Value): () => void {
  const bytes = rowOf(SOUND.map((sound, at) => (at === index ? value : sound)));
  return () => ROW.assertValues(bytes, 0);
}

it('accepts the types that it reads, and no others', () => {
  expect(() => ROW.assertTypes(OIDS)).not.toThrow();
  for (const index of OIDS.keys())
    expect(() => ROW.assertTypes(OIDS.map((oid, at) => (at === index ? 700 : oid)))).toThrow(REFUSED);
  expect(() => ROW.assertTypes(OIDS.slice(1))).toThrow(REFUSED);
  expect(() => ROW.assertTypes([...OIDS, 25])).toThrow(REFUSED);
});

it.each<[number, Value]>([
  [0, UUID],
  [1, 'é'],
  [2, int64(0n)],
  [2, int64(BigInt(Number.MAX_SAFE_INTEGER))],
  [3, UUID],
  [4, '{}'],
  [5, null],
  [5, '[]'],
  [6, int64(252_455_615_999_999_000n)],
])('accepts in column %i: %j', (index, value) => expect(check(index, value)).not.toThrow());

it.each<[number, Value]>([
  [0, null],
  [0, Buffer.alloc(15)],
  [1, null],
  [1, ''],
  [1, 'names'],
  [2, null],
  [2, int64(-1n)],
  [2, int64(9_223_372_036_854_775_807n)],
  [2, Buffer.alloc(4)],
  [3, Buffer.alloc(17)],
  [4, null],
  [4, '[1]'],
  [4, '7'],
  [4, '{1'],
  [4, `{"a": "${'x'.repeat(100)}"}`],
  [5, '[null]'],
  [5, '[["a"]]'],
  [5, '{}'],
  [6, int64(9_223_372_036_854_775_807n)],
  [6, int64(-9_223_372_036_854_775_808n)],
  [6, int64(252_455_616_000_000_000n)],
  [6, null],
])('refuses in column %i: %j', (index, value) => expect(check(index, value)).toThrow(REFUSED));
