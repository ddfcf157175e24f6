import { randomUUID } from 'node:crypto';
import { costOfParsing, cpuTimeOf } from '../../test/support/event-loop';
import { parseGroup, parseGroupPatch } from './scim-groups';

const members = (count: number): object[] => Array.from({ length: count }, () => ({ value: randomUUID() }));
const operations = (count: number, of: (index: number) => object): string =>
  JSON.stringify({ Operations: Array.from({ length: count }, (_, index) => of(index)) });
const attributes = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`a${index}`, 1]));

const reference = costOfParsing();

/** Bodies of up to a megabyte, which is the maximum, and of as many parts as are accepted. */
it.each([
  [
    'additions and removals of members',
    operations(1_000, (index) => ({ op: index % 2 ? 'add' : 'remove', path: 'members', value: members(20) })),
  ],
  [
    'removals by path',
    operations(1_000, () => ({ op: 'remove', path: `members[value eq "${randomUUID()}"]` })),
  ],
  ['members of a whole group', JSON.stringify({ displayName: 'Sales', members: members(5_000) })],
])('reads a large body of %s in less than the third of parsing ten megabytes', (_what, text) => {
  const read = (): void => {
    const body: unknown = JSON.parse(text);
    try {
      if (text.includes('Operations')) parseGroupPatch(body);
      else parseGroup(body);
    } catch {
      // Refused, which must not take longer.
    }
  };
  const cost = Math.min(...[1, 2, 3].map(() => cpuTimeOf(read)));
  expect(cost).toBeLessThan(reference / 3);
});

it('refuses an operation with thousands of attributes', () => {
  expect(() => parseGroupPatch({ Operations: [{ op: 'add', value: attributes }] })).toThrow('attributes');
});
