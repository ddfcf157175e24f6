import { formatPosition, parsePosition } from './log-position';

it.each(['0/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF'])('%s is a position', (text) => {
  const position = parsePosition(text);
  expect(position === null ? null : formatPosition(position)).toBe(text);
});

it('positions are ordered by their high half first', () => {
  expect(parsePosition('2/0')).toBeGreaterThan(parsePosition('1/FFFFFFFF') ?? 0n);
});

it.each(['', '0', '0/', '/0', '0/G', '123456789/0', '0/0 ', '-1/0'])('"%s" is none', (text) => {
  expect(parsePosition(text)).toBeNull();
});
