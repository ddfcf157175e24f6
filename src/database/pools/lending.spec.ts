import { Lending, MOMENT_MS } from './lending';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('Lending', () => {
  it('lends freely up to its number', () => {
    const lending = new Lending<string>(2);
    lending.add('a');
    expect(lending.mayGrow()).toBe(true);
    lending.add('b');
    expect(lending.mayGrow()).toBe(false);
    lending.delete('a');
    expect(lending.mayGrow()).toBe(true);
  });

  it('counts what is promised', () => {
    const lending = new Lending<string>(2);
    lending.add('a');
    expect(lending.mayGrow(1)).toBe(false);
  });

  it('does not count who takes longer than a moment', () => {
    const lending = new Lending<string>(2);
    lending.add('slow');
    lending.add('slow too');
    jest.advanceTimersByTime(MOMENT_MS);
    expect(lending.mayGrow()).toBe(true);
    lending.add('quick');
    lending.add('quick too');
    expect(lending.mayGrow()).toBe(false);
  });
});
