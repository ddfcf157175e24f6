/** A few kills during restore and backup; test/soak/backup-kill.soak-spec.ts makes a hundred. */
import { BackupKills } from '../support/backup-kills';

const KILLS = 4;

const kills = new BackupKills();
beforeAll(() => kills.setUp(), 120_000);
afterAll(() => kills.tearDown(), 60_000);

it('loses nothing, and leaves no half project and no half backup', async () => {
  for (let kill = 0; kill < KILLS; kill += 1) await kills.kill(kill);
  await kills.assertRecovered();
}, 300_000);
