/** A clock for several processes, which a test moves (libfaketime, Debian's package). Timers use the real time. */
import { chmodSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

export const hasFakeClock = existsSync(LIBRARY);

/** Environment of a process whose clock differs by a number of seconds. */
export const clockApart = (seconds: number): Record<string, string> => ({
  LD_PRELOAD: LIBRARY,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  ...REAL_TIMERS,
});

const REAL_TIMERS = { FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };

export class FakeClock {
  private readonly file: string;
  private offset = 0;

  constructor() {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-clock-'));
    // PostgreSQL reads it as another user.
    chmodSync(directory, 0o755);
    this.file = join(directory, 'offset');
    this.move(0);
  }

  /** A process reads the offset at most once a second. */
  get env(): Record<string, string> {
    const { file } = this;
    return {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      ...REAL_TIMERS,
    };
  }

  now(): Date {
    return new Date(Date.now() + this.offset * 1_000);
  }

  move(seconds: number): void {
    this.offset += seconds;
    writeFileSync(this.file, `+${this.offset}s\n`, { mode: 0o644 });
  }
}
