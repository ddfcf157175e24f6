/**
 * kill -9 at random moments of inserts, uploads (resumable and multipart ones too), overwrites, moves and deletions of
 * files, creations of projects, restores and backups, which all run concurrently. Every second kill also kills
 * PostgreSQL. PLINTH_KILLS sets how often.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { casesOf, IN_SOAK } from '../support/extent';
import { BackupWork, KILL_PASSPHRASE } from '../support/kills/backup-work';
import { FileWork } from '../support/kills/file-work';
import { killOften, KilledInstall } from '../support/kills/killed-install';
import { MultipartWork } from '../support/kills/multipart-work';
import { ResumableWork } from '../support/kills/resumable-work';
import { ProjectWork, RowWork } from '../support/kills/row-work';
import { PROVIDERS, type TestProvider } from '../support/object-servers/object-stores';

/** Number of kills: one during a restore and one during a scheduled backup. The soak also kills during streamed backups. */
const KILLS = Number(process.env.PLINTH_KILLS ?? (IN_SOAK ? 60 : 2));
/** The sweep after a kill removes objects without a row. */
const TUNING = { orphanAgeMs: 200 };

describe.each(casesOf(PROVIDERS, 1))('with files on %s', (_name, startProvider) => {
  let directory: string;
  let provider: TestProvider;
  let install: KilledInstall;
  let files: FileWork;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-kill-'));
    provider = await startProvider();
    install = new KilledInstall(directory, { BACKUP_PASSPHRASE: KILL_PASSPHRASE }, provider);
    files = new FileWork(install, provider);
    await install.start(TUNING);
  }, 120_000);
  afterAll(async () => {
    await install?.stop();
    await provider?.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);

  it(
    `${KILLS} times: keeps all that was acknowledged, and leaves no partial project, backup or file`,
    async () => {
      const rows = new RowWork(install);
      const backups = new BackupWork(install, rows);
      const projects = new ProjectWork(install);
      const works = [rows, backups, new ResumableWork(install), new MultipartWork(install), files, projects];
      for (const work of works) await work.prepare();
      await killOften(() => install, works, {
        kills: KILLS,
        tuning: TUNING,
        withDatabase: (kill) => kill % 2 === 0,
      });
      await backups.assertRecovered();
      if (process.env.PLINTH_KILLS)
        process.stdout.write(`${provider.name}: ${JSON.stringify([files.figures, backups.counts])}\n`);
    },
    240_000 + KILLS * 60_000,
  );

  // In the suite, interrupted.proc-spec.ts deletes a project without a sweep.
  (IN_SOAK ? it : it.skip)(
    'a deleted project leaves no bytes, even without a sweep',
    async () => {
      const { id } = files.project;
      expect(await install.stop()).toBe(0);
      await install.start();
      expect(install.objectsOf(id).length).toBeGreaterThan(0);
      expect((await install.admin.delete(`/admin/v1/projects/${id}`)).status).toBe(200);
      await eventually(async () => expect(install.objectsOf(id)).toEqual([]), 60_000);
      expect(await install.stop()).toBe(0);
    },
    120_000,
  );
});

/** The soak runs all works on these providers. */
(IN_SOAK ? describe.skip : describe).each(casesOf(PROVIDERS.slice(1), 1))(
  'with only files on %s',
  (_name, startProvider) => {
    it('keeps all acknowledged bytes of plain, resumable and multipart uploads, and sweeps what is left', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'plinth-kill-'));
      const provider = await startProvider();
      const install = new KilledInstall(directory, {}, provider);
      try {
        await install.start(TUNING);
        const works = [
          new ResumableWork(install),
          new MultipartWork(install),
          new FileWork(install, provider),
        ];
        for (const work of works) await work.prepare();
        await killOften(() => install, works, { kills: 1, tuning: TUNING });
      } finally {
        await install.stop();
        await provider.stop();
        rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
      }
    }, 240_000);
  },
);
