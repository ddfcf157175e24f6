/**
 * More than a hundred kills: seventy during restores and backups, thirty while a project moves to another install and provider,
 * and thirty more during backups of a project on a second PostgreSQL server and its restores. PLINTH_KILLS, PLINTH_MOVE_KILLS and
 * PLINTH_SERVER_KILLS set other numbers. Needs a build (`npm run build`).
 */
import { BackupKills } from '../support/backup-kills';
import { MoveKills } from '../support/move-kills';

const KILLS = Number(process.env.PLINTH_KILLS ?? 70);
const MOVE_KILLS = Number(process.env.PLINTH_MOVE_KILLS ?? 30);

const SERVER_KILLS = Number(process.env.PLINTH_SERVER_KILLS ?? 30);

describe.each([
  ['restores and backups', KILLS, () => new BackupKills()],
  ['restores and backups with two servers', SERVER_KILLS, () => new BackupKills('db2')],
  ['moves to another provider', MOVE_KILLS, () => new MoveKills()],
] as const)('kill -9 during %s', (_what, number, create) => {
  const kills = create();
  beforeAll(() => kills.setUp(), 300_000);
  afterAll(() => kills.tearDown(), 60_000);

  it(
    `loses nothing in ${number} kills, and leaves nothing half`,
    async () => {
      for (let kill = 0; kill < number; kill += 1) {
        await kills.kill(kill);
        process.stdout.write(`${kill + 1} ${JSON.stringify(kills.counts)}\n`);
      }
      await kills.assertRecovered();
      process.stdout.write(`${JSON.stringify(kills.counts)}\n`);
    },
    number * 120_000 + 300_000,
  );
});
