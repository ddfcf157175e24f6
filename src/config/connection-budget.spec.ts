import { defaultConnections, memoryBudget } from './connection-budget';

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

it('opens up to 80 connections to another server, whose limits are unknown', () => {
  expect(defaultConnections('postgres://db.example.com/postgres', 2, 64 * GIB)).toBe(80);
});

it.each([
  [0.5, 1, 128],
  [2, 1, 384],
  [2, 4, 128],
  [64, 8, 384],
])('in %d GiB, each of %d processes holds bodies of %d MiB', (memory, processes, expected) => {
  expect(memoryBudget(384 * 1024 ** 2, 4, processes, memory * GIB)).toBe(expected * 1024 ** 2);
});
