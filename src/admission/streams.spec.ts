import type { SharedConnection } from './shared-pool';
import { Streams } from './streams';

const STALLED_MS = 2_000;
const LIMITS = { total: 5, perProject: 3, perClient: 2, stalledMs: STALLED_MS };

let streams: Streams;
let ended: string[];
beforeEach(() => {
  jest.useFakeTimers();
  streams = new Streams(LIMITS);
  ended = [];
});
afterEach(() => jest.useRealTimers());

/** The part of a connection that these tests need. */
type Held = { -readonly [K in 'pausedSince' | 'database']: SharedConnection[K] };

/** @returns the connection of a stream that has just been paused */
function begin(name: string, project = 'a', client = '192.0.2.1'): Held {
  const held = { pausedSince: performance.now(), database: { key: project } } as Held;
  const connection = held as SharedConnection;
  streams.begin({ connection, project, client, end: () => ended.push(name) });
  return held;
}

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms);
};
const refused = expect.objectContaining({ kind: 'too_many_streams' }) as Error;

it('refuses a stream beyond the limit of a client, of a project, or of all, while all make progress', () => {
  begin('1');
  begin('2');
  expect(() => begin('of the client')).toThrow(refused);
  begin('3', 'a', '192.0.2.2');
  expect(() => begin('of the project', 'a', '192.0.2.3')).toThrow(refused);
  begin('4', 'b');
  begin('5', 'c');
  expect(() => begin('of all', 'd')).toThrow(refused);
  expect([streams.size, ended]).toEqual([5, []]);
});

it('ends the longest stalled stream for a new stream, among the streams that count for the same limit', () => {
  begin('first');
  pass(10);
  begin('second');
  pass(10);
  const other = begin('of another client', 'a', '192.0.2.2');
  other.pausedSince = null;
  pass(STALLED_MS - 11);
  begin('third');
  expect(ended).toEqual(['first']);
  expect(() => begin('too early')).toThrow(refused);
  pass(1);
  begin('fourth');
  expect(ended).toEqual(['first', 'second']);
  expect(() => begin('fifth')).toThrow(refused);
});

it('ends as many stalled streams as requests wait, and none that makes progress', () => {
  const first = begin('1');
  pass(1);
  const [second, third] = [begin('2', 'a', '192.0.2.2'), begin('3', 'a', '192.0.2.3')];
  begin('of another project', 'b');
  pass(STALLED_MS);
  third.pausedSince = null;
  streams.endFor(1, 'a');
  expect(ended).toEqual(['1']);
  // It has not released its connection yet.
  streams.endFor(1, 'a');
  expect(ended).toEqual(['1']);
  streams.delete(first as SharedConnection);
  streams.endFor(2, 'a');
  expect(ended).toEqual(['1', '2']);
  streams.delete(second as SharedConnection);
  streams.endFor(1, null);
  expect(ended).toEqual(['1', '2', 'of another project']);
});
