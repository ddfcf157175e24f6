/**
 * A project moves repeatedly between two servers under load, and the process that moves it is killed: a small project,
 * which is copied while writes are refused, and a large project, whose changes are followed. PLINTH_MOVES and
 * PLINTH_KILLS set the numbers. Needs a build (`npm run build`).
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentOf } from '../support/catalog-copies';
import { eventually, until } from '../support/eventually';
import { CHANGING_TABLES, EveryChange } from '../support/every-change';
import { killOften } from '../support/kills/killed-install';
import { ServerMoveWork } from '../support/kills/server-move-work';
import { accessOf, asOwner } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';
import { TestProject } from '../support/test-project';

const MOVES = Number(process.env.PLINTH_MOVES ?? 6);
const KILLS = Number(process.env.PLINTH_KILLS ?? 30);
/** Promised limit for refused writes in milliseconds. */
const PROMISED_MS = 5_000;

describe.each([
  ['small', 40_000],
  // More than QUICK_BYTES (32 MiB), so the rows are not copied while writes are refused.
  ['large', 350_000],
])('a %s project', (_size, rows) => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-server-move-'));
  const moves = new ServerMoveWork(directory, rows);
  beforeAll(() => moves.prepare(), 300_000);
  afterAll(async () => {
    await moves.tearDown();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);

  const report = (): void =>
    void process.stdout.write(`${JSON.stringify({ ...moves.counts, ...moves.gaps })}\n`);

  it(
    `loses nothing in ${MOVES} moves, and refuses writes for less than ${PROMISED_MS} ms`,
    async () => {
      for (let move = 0; move < MOVES; move += 1) await moves.moveUndisturbed();
      report();
      expect(moves.gaps.refused).toBeLessThan(PROMISED_MS);
    },
    MOVES * 60_000 + 60_000,
  );

  it(
    `loses nothing in ${KILLS} kills, and leaves no partial project`,
    async () => {
      await killOften(() => moves.mover, [moves], {
        kills: KILLS,
        moment: () => moves.moment(),
        onKill: report,
      });
      await moves.moveUndisturbed();
    },
    KILLS * 120_000 + 60_000,
  );
});

(hasPostgres ? it : it.skip)(
  'follows a large project from an older PostgreSQL to the embedded one',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-move-older-'));
    chmodSync(directory, 0o755);
    const older = await PostgresServer.primary(directory, 'wal_level = logical');
    const plinth = await TestPlinth.start();
    try {
      await plinth.admin.post('/admin/v1/servers', { name: 'older', url: older.url });
      const project = await TestProject.create(plinth, { server: 'older' });
      const access = await accessOf(plinth, project.id);
      await asOwner(access, (client) => client.query(CHANGING_TABLES));
      const changes = new EveryChange(access);
      changes.start();
      await until(() => changes.rounds > 10, 30_000);
      const path = `/admin/v1/projects/${project.id}/move`;
      expect((await plinth.admin.post(path, { server: 'platform', keep: true })).status).toBe(202);
      await eventually(
        async () => expect((await plinth.admin.get(path)).body.finished_at).not.toBeNull(),
        90_000,
      );
      await changes.stop();
      expect((await plinth.admin.get(path)).body).toMatchObject({ status: 'done', error: null });
      expect(changes.faults).toEqual([]);
      await older.query(`alter database "${access.database}" with allow_connections true`);
      await asOwner(access, (client) => client.query('refresh materialized view seen'));
      expect(await contentOf(access.database)).toEqual(await contentOf(access.database, older.url));
    } finally {
      await plinth.stop();
      await older.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
  180_000,
);
