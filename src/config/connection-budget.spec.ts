import { defaultConnections } from './connection-budget';

const GIB = 1024 ** 3;

it.each([
  [2, 1, 80],
  [4, 1, 128],
  [8, 1, 250],
  [64, 1, 250],
  [2, 2, 40],
  [8, 2, 125],
  [8, 64, 31],
])(
  'with %d GiB of memory, each of %d processes opens up to %d connections',
  (memory, processes, expected) => {
    expect(defaultConnections(undefined, processes, memory * GIB)).toBe(expected);
  },
);

it('opens up to 80 connections to another server, whose limits it does not know', () => {
  expect(defaultConnections('postgres://db.example.com/postgres', 2, 64 * GIB)).toBe(80);
});
