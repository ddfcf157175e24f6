import { encode, readBinary, readText, SharedFrame } from './phoenix-protocol';

/** A broadcast as realtime-js encodes it. */
function push(texts: readonly string[], encoding: number, payload: Buffer): Buffer {
  const parts = texts.map((text) => Buffer.from(text));
  return Buffer.concat([Buffer.from([3, ...parts.map(({ length }) => length), encoding]), ...parts, payload]);
}

describe('a binary broadcast', () => {
  it('has JSON or bytes as its payload', () => {
    const json = push(['1', '2', 'realtime:é', 'moved', ''], 1, Buffer.from('{"x":1}'));
    expect(readBinary(json)).toEqual({
      joinRef: '1',
      ref: '2',
      topic: 'realtime:é',
      event: 'broadcast',
      payload: { type: 'broadcast', event: 'moved', payload: { x: 1 } },
    });
    const bytes = push(['', '', 't', 'e', '{"a":1}'], 0, Buffer.from([0, 255]));
    expect(readBinary(bytes)).toMatchObject({ joinRef: null, ref: null, bytes: Buffer.from([0, 255]) });
  });

  it('is null if its head is cut anywhere, and for every other kind', () => {
    const whole = push(['1', '2', 'topic', 'event', '{}'], 1, Buffer.from('1'));
    for (let length = 0; length < whole.length; length += 1)
      expect(readBinary(whole.subarray(0, length))).toBeNull();
    for (let kind = 0; kind < 256; kind += 1) {
      if (kind !== 3) expect(readBinary(Buffer.from([kind, ...whole.subarray(1)]))).toBeNull();
    }
  });

  it('goes to clients of version 2.0.0 only', () => {
    const frame = new SharedFrame({ topic: 'realtime:a', userEvent: 'e', bytes: Buffer.from([7]) });
    expect(frame.for('1.0.0')).toBeNull();
    expect([...(frame.for('2.0.0') ?? [])]).toEqual([4, 10, 1, 0, 0, ...Buffer.from('realtime:ae'), 7]);
  });
});

it('reads and writes both versions', () => {
  const message = { joinRef: '1', ref: '2', topic: 'phoenix', event: 'heartbeat', payload: {} };
  expect(readText('2.0.0', '["1","2","phoenix","heartbeat",{}]')).toEqual(message);
  expect(
    readText('1.0.0', '{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"2","join_ref":"1"}'),
  ).toEqual(message);
  for (const version of ['1.0.0', '2.0.0'] as const) {
    const text = encode(version, { ...message, payload: '{}' }).toString();
    expect(readText(version, text)).toEqual(message);
  }
});
