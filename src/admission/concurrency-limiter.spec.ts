import { ConcurrencyLimiter, MOMENT_MS } from './concurrency-limiter';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('ConcurrencyLimiter', () => {
  it('lends connections up to its limit', () => {
    const limiter = new ConcurrencyLimiter<string>(2);
    limiter.add('a');
    expect(limiter.mayGrow()).toBe(true);
    limiter.add('b');
    expect(limiter.mayGrow()).toBe(false);
    limiter.delete('a');
    expect(limiter.mayGrow()).toBe(true);
  });

  it('counts promised connections', () => {
    const limiter = new ConcurrencyLimiter<string>(2);
    limiter.add('a');
    expect(limiter.mayGrow(1)).toBe(false);
  });

  it('does not count connections in use for longer than MOMENT_MS', () => {
    const limiter = new ConcurrencyLimiter<string>(2);
    limiter.add('slow');
    limiter.add('slow too');
    jest.advanceTimersByTime(MOMENT_MS);
    expect(limiter.mayGrow()).toBe(true);
    limiter.add('quick');
    limiter.add('quick too');
    expect(limiter.mayGrow()).toBe(false);
  });
});
