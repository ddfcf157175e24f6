import { RequestRates } from './request-rates';

describe('RequestRates', () => {
  let time: number;
  let rates: RequestRates;
  const admitted = (requests: number, limit: number, id = 'one'): number =>
    Array.from({ length: requests }, () => rates.take(id, limit)).filter((wait) => wait === 0).length;
  beforeEach(() => {
    time = 0;
    rates = new RequestRates({ now: () => time, nowSeconds: () => 0, date: () => new Date(time) });
  });

  it('admits a burst of as many requests as the limit, then requests at that rate', () => {
    expect(admitted(1_000, 100)).toBe(100);
    time = 500;
    expect(admitted(1_000, 100)).toBe(50);
    time = 60_000;
    expect(admitted(1_000, 100)).toBe(100);
  });

  it('admits a tenth of the requests at ten times the limit', () => {
    let count = 0;
    for (time = 0; time < 10_000; time += 1) count += admitted(1, 100);
    expect(count).toBeGreaterThanOrEqual(1_000);
    expect(count).toBeLessThanOrEqual(1_100);
  });

  it('returns the time until the next request is admitted', () => {
    expect(admitted(1, 1)).toBe(1);
    time = 250;
    expect(rates.take('one', 1)).toBe(750);
    time = 1_000;
    expect(rates.take('one', 1)).toBe(0);
  });

  it('counts each project separately, and applies a changed limit immediately', () => {
    expect(admitted(10, 5)).toBe(5);
    expect(admitted(10, 5, 'other')).toBe(5);
    time = 1_000;
    expect(admitted(10, 2)).toBe(2);
  });

  it('admits no more when the clock was set back', () => {
    time = 10_000;
    expect(admitted(10, 5)).toBe(5);
    time = 5_000;
    expect(admitted(10, 5)).toBe(0);
    time = 6_000;
    expect(admitted(10, 5)).toBe(5);
  });
});
