/** A hundred kills during restore and backup, or PLINTH_KILLS. Needs a build (`npm run build`). */
import { BackupKills } from '../support/backup-kills';

const KILLS = Number(process.env.PLINTH_KILLS ?? 100);

const kills = new BackupKills();
beforeAll(() => kills.setUp(), 300_000);
afterAll(() => kills.tearDown(), 60_000);

it(
  `loses nothing in ${KILLS} kills, and leaves no half project and no half backup`,
  async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      await kills.kill(kill);
      process.stdout.write(`${kill + 1} ${JSON.stringify(kills.counts)}\n`);
    }
    await kills.assertRecovered();
    process.stdout.write(`${JSON.stringify(kills.counts)}\n`);
  },
  KILLS * 120_000,
);
