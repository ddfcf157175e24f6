import { joinedParts } from './joined-parts';
import { ObjectAddress } from './object-store';

/** Slices as `<object>:<start>+<size>`. */
function plan(...sizes: number[]): string[] {
  const objects = sizes.map((size, place) => ({
    address: new ObjectAddress('abcdefghijklmnopqrst', `00000000-0000-4000-8000-00000000000${place}`),
    size,
  }));
  return joinedParts(objects, 5, 20).map((slices) =>
    slices.map(({ address, start, size }) => `${address.objectId.at(-1)}:${start}+${size}`).join(' '),
  );
}

it.each([
  ['objects of sufficient size, and a small last one', [5, 20, 6, 1], ['0:0+5', '1:0+20', '2:0+6', '3:0+1']],
  ['small objects together', [1, 2, 1], ['0:0+1 1:0+2 2:0+1']],
  ['small objects with the beginning of a large one', [2, 9, 3], ['0:0+2 1:0+3', '1:3+6', '2:0+3']],
  ['a large object as a whole if its rest is too small', [2, 7, 9], ['0:0+2 1:0+7', '2:0+9']],
  ['no empty objects', [0, 7, 0], ['1:0+7']],
  ['pieces of an object that is too large', [41], ['0:0+15', '0:15+15', '0:30+11']],
  ['pieces that are all large enough', [21, 5], ['0:0+15', '0:15+6', '1:0+5']],
])('takes %s', (_what, sizes, parts) => {
  expect(plan(...sizes)).toEqual(parts);
});
