import { BodyPace } from './body-pace';

const LIMITS = { minRate: 1_000, windowMs: 10_000, deadlineMs: 35_000 };
/** Bytes that must arrive in a window. */
const ENOUGH = 10_000;

let tooSlow: jest.Mock;
beforeEach(() => {
  jest.useFakeTimers();
  tooSlow = jest.fn();
});
afterEach(() => jest.useRealTimers());

const paceOf = (isHeld: boolean): BodyPace => new BodyPace(LIMITS, isHeld, tooSlow);

it('ends a body that is slower than the rate in one window, whatever arrived before', () => {
  const pace = paceOf(false);
  pace.take(1_000_000);
  jest.advanceTimersByTime(LIMITS.windowMs);
  expect(tooSlow).not.toHaveBeenCalled();
  pace.take(ENOUGH - 1);
  jest.advanceTimersByTime(LIMITS.windowMs);
  expect(tooSlow).toHaveBeenCalledTimes(1);
});

it('reads a slow body as long as it keeps the minimum rate', () => {
  const pace = paceOf(false);
  for (let n = 0; n < 1_000; n += 1) {
    // All bytes arrive at the end of the window: only the average counts.
    jest.advanceTimersByTime(LIMITS.windowMs - 1);
    pace.take(ENOUGH);
    jest.advanceTimersByTime(1);
  }
  expect(tooSlow).not.toHaveBeenCalled();
});

it('ends a body that is held in memory at the deadline, however fast it arrives', () => {
  const pace = paceOf(true);
  for (let second = 0; second < 34; second += 1) {
    pace.take(ENOUGH);
    jest.advanceTimersByTime(1_000);
  }
  expect(tooSlow).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1_000);
  expect(tooSlow).toHaveBeenCalledTimes(1);
});

it('does not count windows in which the server did not read', () => {
  const pace = paceOf(false);
  jest.advanceTimersByTime(1_000);
  pace.pause();
  jest.advanceTimersByTime(5 * LIMITS.windowMs);
  pace.resume();
  jest.advanceTimersByTime(LIMITS.windowMs - 1_000);
  expect(tooSlow).not.toHaveBeenCalled();
  jest.advanceTimersByTime(LIMITS.windowMs);
  expect(tooSlow).toHaveBeenCalledTimes(1);
});

it('does not measure after the end of the body', () => {
  paceOf(true).end();
  jest.advanceTimersByTime(100_000);
  expect(tooSlow).not.toHaveBeenCalled();
});
