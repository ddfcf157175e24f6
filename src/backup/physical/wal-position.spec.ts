import {
  formatLsn,
  historyName,
  isHistoryName,
  parseLsn,
  parseSegmentName,
  segmentName,
  segmentOf,
  startOfSegment,
} from './wal-position';

describe('a position in the log', () => {
  it.each(['0/0', '0/3000028', '1A/FFFFFFFF', 'FFFFFFFF/0'])('%s is read and printed', (text) => {
    expect(formatLsn(parseLsn(text))).toBe(text);
  });

  it.each(['', '0', '0/', '/0', '0/123456789', 'G/0', '0/0; drop'])('"%s" is refused', (text) => {
    expect(() => parseLsn(text)).toThrow('is not a position in the log');
  });
});

describe('a segment of the log', () => {
  // As pg_walfile_name() of PostgreSQL 18 prints them for timeline 1.
  it.each([
    ['0/0', '000000010000000000000000'],
    ['0/1000000', '000000010000000000000001'],
    ['0/FFFFFFFF', '0000000100000000000000FF'],
    ['1/0', '000000010000000100000000'],
    ['2B/4D5E6F70', '000000010000002B0000004D'],
  ])('%s is in %s', (lsn, name) => {
    const number = segmentOf(parseLsn(lsn));
    expect(segmentName(1, number)).toBe(name);
    expect(parseSegmentName(name)).toEqual({ timeline: 1, number, isPartial: false });
    expect(parseSegmentName(`${name}.partial`)).toEqual({ timeline: 1, number, isPartial: true });
    expect(segmentOf(startOfSegment(number))).toBe(number);
  });

  it.each(['instance.lock', '00000002.history', '0000000100000000000000FF.backup', 'x'])(
    '%s is not a segment',
    (name) => expect(parseSegmentName(name)).toBeNull(),
  );
});

it('a history is named after its timeline', () => {
  expect(historyName(10)).toBe('0000000A.history');
  expect(isHistoryName('0000000A.history')).toBe(true);
  expect(isHistoryName('0000000A.history.new')).toBe(false);
});
