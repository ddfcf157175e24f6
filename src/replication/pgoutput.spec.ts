import { parseLogicalMessage } from './pgoutput';

const text = (value: string): Buffer =>
  Buffer.concat([Buffer.from([0x74]), int32(Buffer.byteLength(value)), Buffer.from(value)]);
const int32 = (value: number): Buffer =>
  Buffer.from([value >>> 24, value >>> 16, value >>> 8, value].map((byte) => byte & 255));
const int16 = (value: number): Buffer => int32(value).subarray(2);
const letter = (value: string): Buffer => Buffer.from(value);

describe('parseLogicalMessage', () => {
  it('distinguishes NULL, an unchanged large value and an empty text', () => {
    const row = [int16(3), letter('n'), letter('u'), text('')];
    const update = Buffer.concat([letter('U'), int32(7), letter('N'), ...row]);
    expect(parseLogicalMessage(update)).toEqual({
      kind: 'update',
      relation: 7,
      old: null,
      row: [null, undefined, ''],
    });
  });

  it('reads the former key of an update', () => {
    const key = [letter('K'), int16(1), text('é')];
    const update = Buffer.concat([letter('U'), int32(7), ...key, letter('N'), int16(1), text('b')]);
    expect(parseLogicalMessage(update)).toEqual({ kind: 'update', relation: 7, old: ['é'], row: ['b'] });
  });

  it.each(['I', 'U', 'D', 'R', 'T', 'C', 'M'])('throws for a truncated message %s', (kind) => {
    expect(() => parseLogicalMessage(Buffer.concat([letter(kind), int32(1)]))).toThrow();
    const cut = Buffer.concat([
      letter('I'),
      int32(1),
      letter('N'),
      int16(1),
      letter('t'),
      int32(9),
      letter('short'),
    ]);
    expect(() => parseLogicalMessage(cut)).toThrow();
  });
});
