import { AppError } from '../../common/errors/app-error';
import { assertTimes, dailyAt, fromArchivedSchedule, lastTime, nextTime } from './schedule';

const at = (text: string): number => Date.parse(text);

describe('a schedule', () => {
  it('finds the last time up to now, and the next time after now', () => {
    const daily = { cron: dailyAt(3), timeZone: 'UTC' };
    expect(lastTime(daily, at('2026-03-01T03:00:00Z'))).toBe(at('2026-03-01T03:00:00Z'));
    expect(lastTime(daily, at('2026-03-01T02:59:59.999Z'))).toBe(at('2026-02-28T03:00:00Z'));
    expect(nextTime(daily, at('2026-03-01T03:00:00Z'))).toBe(at('2026-03-02T03:00:00Z'));
  });

  it('follows its time zone through the change to daylight saving time', () => {
    const daily = { cron: dailyAt(4), timeZone: 'Europe/Berlin' };
    expect(lastTime(daily, at('2026-03-28T12:00:00Z'))).toBe(at('2026-03-28T03:00:00Z'));
    expect(lastTime(daily, at('2026-03-29T12:00:00Z'))).toBe(at('2026-03-29T02:00:00Z'));
  });

  it('searches four years, so that a hostile expression cannot block the event loop', () => {
    const now = at('2026-11-26T00:00:00Z');
    const fifthSundayOfFebruary = { cron: '0 0 ? 2 0#5', timeZone: 'UTC' };
    expect([lastTime(fifthSundayOfFebruary, now), nextTime(fifthSundayOfFebruary, now)]).toEqual([0, null]);
    const leapDay = { cron: '0 0 29 2 *', timeZone: 'UTC' };
    expect(lastTime(leapDay, now)).toBe(at('2024-02-29T00:00:00Z'));
    expect(nextTime(leapDay, now)).toBe(at('2028-02-29T00:00:00Z'));
  });

  it.each(['30 3 * * *', '*/15 * * * 1-5', '0 0 1,15 JAN *', '0 3 * * THU'])('accepts %s', (cron) =>
    expect(() => assertTimes({ cron, timeZone: 'UTC' })).not.toThrow(),
  );

  it.each([
    ['* * * *', 'UTC'],
    ['0 0 3 * * *', 'UTC'],
    ['H 3 * * *', 'UTC'],
    ['61 * * * *', 'UTC'],
    ['0 3 30 2 *', 'UTC'],
    ['0 0 31 4,6,9,11 *', 'UTC'],
    ['0 0 ? 2 0#5', 'UTC'],
    ['@daily', 'UTC'],
    ['0 3 * * *', 'Mars/Olympus'],
    ['0 3 * * *', ''],
  ])('refuses %s in %s', (cron, timeZone) => {
    expect(() => assertTimes({ cron, timeZone })).toThrow(AppError);
  });

  it('is not taken from an archive if its times cannot be read', () => {
    const archived = { project_id: null, cron: '0 3 * * *', time_zone: 'UTC', keep: 1, enabled: true };
    expect(fromArchivedSchedule(archived)).toMatchObject({ cron: '0 3 * * *' });
    expect(() => fromArchivedSchedule({ ...archived, cron: 'never' })).toThrow(AppError);
    expect(() => fromArchivedSchedule({ ...archived, time_zone: 'Nowhere' })).toThrow(AppError);
  });
});
