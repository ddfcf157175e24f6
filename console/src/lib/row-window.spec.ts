import { AT_START, drawn, heightOf, MAX_PX, reveal, ROW_PX, scrolled, scrollTo } from './row-window';

const view = 600;
const large = { rows: 1_000_000, view };

it('scrolls a small table pixel by pixel', () => {
  const size = { rows: 1000, view };
  expect(heightOf(1000)).toBe(1000 * ROW_PX);
  expect(scrolled(AT_START, 5000, size)).toEqual({ top: 5000, offset: 0 });
  expect(scrollTo(5000, size)).toEqual({ top: 5000, offset: 0 });
});

it('jumps to the middle and the end of a table that is higher than an element can be', () => {
  expect(heightOf(large.rows)).toBe(MAX_PX);
  const middle = drawn(scrolled(AT_START, (MAX_PX - view) / 2, large), large);
  expect(Math.abs((middle.first + middle.last) / 2 - 500_000)).toBeLessThan(2);
  expect(drawn(scrolled(AT_START, MAX_PX - view, large), large).last).toBe(999_999);
});

it('reaches every row in small steps', () => {
  let scroll = AT_START;
  let [lastSeen, skipped] = [-1, 0];
  for (let step = 0; step < 200_000 && lastSeen < large.rows - 1; step++) {
    const shown = drawn(scroll, large);
    skipped += Math.max(0, shown.first - lastSeen - 1);
    lastSeen = shown.last;
    scroll = scrolled(scroll, Math.min(scroll.top + view, MAX_PX - view), large);
  }
  expect([lastSeen, skipped]).toEqual([large.rows - 1, 0]);
});

it('returns to the first row in small steps', () => {
  let scroll = scrollTo(3_000_000, large);
  for (let step = 0; step < 6000; step++) scroll = scrolled(scroll, Math.max(0, scroll.top - view), large);
  expect(scroll).toEqual(AT_START);
});

it('moves as little as needed to show a row', () => {
  const scroll = scrollTo(500 * ROW_PX, large);
  expect(reveal(scroll, 505, view)).toBeCloseTo(500 * ROW_PX);
  expect(reveal(scroll, 499, view)).toBe(499 * ROW_PX);
  expect(reveal(scroll, 600, view)).toBe(601 * ROW_PX - view);
});
