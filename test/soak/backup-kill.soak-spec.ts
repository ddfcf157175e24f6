/**
 * Kills during backups of a project on a second PostgreSQL server and its restores, and kills while a project moves to another
 * install and provider. PLINTH_KILLS sets how many of each. test/process/kill.proc-spec.ts kills installs with one server. Needs a
 * build (`npm run build`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { BackupWork, KILL_PASSPHRASE } from '../support/kills/backup-work';
import { killOften, KilledInstall } from '../support/kills/killed-install';
import { ProviderMoveWork } from '../support/kills/provider-move-work';
import { RowWork } from '../support/kills/row-work';
import { s3Provider } from '../support/object-servers/object-stores';

const KILLS = Number(process.env.PLINTH_KILLS ?? 30);
const LIMIT_MS = KILLS * 120_000 + 600_000;

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-backup-kill-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

const report =
  (counts: object) =>
  (kill: number): void =>
    void process.stdout.write(`${kill + 1} ${JSON.stringify(counts)}\n`);

it(
  `loses nothing in ${KILLS} kills during restores and backups with two servers, and leaves no partial project`,
  async () => {
    const db2 = await EmbeddedPostgres.start({ dataDir: join(directory, 'db2'), settings: { fsync: 'off' } });
    const install = new KilledInstall(directory, { BACKUP_PASSPHRASE: KILL_PASSPHRASE });
    try {
      await install.start();
      const body = { name: 'db2', url: db2.url };
      expect((await install.admin.post('/admin/v1/servers', body)).status).toBe(201);
      const rows = new RowWork(install, 'db2');
      const backups = new BackupWork(install, rows, 'db2');
      for (const work of [rows, backups]) await work.prepare();
      await killOften(() => install, [rows, backups], { kills: KILLS, onKill: report(backups.counts) });
      await backups.assertRecovered();
    } finally {
      await install.stop();
      await db2.stop();
    }
  },
  LIMIT_MS,
);

it(
  `loses nothing in ${KILLS} kills during moves to another provider, and leaves no partial project`,
  async () => {
    const provider = await s3Provider();
    const moves = new ProviderMoveWork(directory, provider);
    try {
      await moves.prepare();
      await killOften((kill) => moves.installOf(kill), [moves], {
        kills: KILLS,
        moment: () => moves.moment(),
        onKill: report(moves.counts),
      });
      await moves.assertRecovered();
    } finally {
      await moves.tearDown();
      await provider.stop();
    }
  },
  LIMIT_MS,
);
