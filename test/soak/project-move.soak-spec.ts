/**
 * A project moves between two servers again and again under load, and the process that moves it is killed: a small project,
 * which is copied while writes are refused, and a large one, whose changes are followed. PLINTH_MOVES and PLINTH_KILLS set the
 * numbers. Needs a build (`npm run build`).
 */
import { ServerMoveKills } from '../support/server-move-kills';

const MOVES = Number(process.env.PLINTH_MOVES ?? 6);
const KILLS = Number(process.env.PLINTH_KILLS ?? 30);
/** Milliseconds of refused writes that are promised. */
const PROMISED_MS = 5_000;

describe.each([
  ['small', 40_000],
  // With more than 32 MiB.
  ['large', 350_000],
])('a %s project', (_size, rows) => {
  const kills = new ServerMoveKills(rows);
  beforeAll(() => kills.setUp(), 300_000);
  afterAll(() => kills.tearDown(), 60_000);

  const report = (): void =>
    void process.stdout.write(`${JSON.stringify({ ...kills.counts, ...kills.gaps })}\n`);

  it(
    `loses nothing in ${MOVES} moves, and refuses writes for less than ${PROMISED_MS} ms`,
    async () => {
      for (let move = 0; move < MOVES; move += 1) await kills.moveUndisturbed();
      report();
      expect(kills.gaps.refused).toBeLessThan(PROMISED_MS);
    },
    MOVES * 60_000 + 60_000,
  );

  it(
    `loses nothing in ${KILLS} kills, and leaves nothing half`,
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await kills.kill();
        report();
      }
      await kills.moveUndisturbed();
    },
    KILLS * 120_000 + 60_000,
  );
});
