/**
 * Thirty logins of a hostile owner, held before their last message, race against each project that is created, restored
 * or moved, and none succeeds. PLINTH_CREATIONS, PLINTH_RESTORES and PLINTH_MOVES set the numbers.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backUp, restore } from '../support/backups';
import { eventually } from '../support/eventually';
import { EntryRace } from '../support/held-logins';
import { accessOf } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';
import { TestProject } from '../support/test-project';

const CONNECTIONS = 30;
const CREATIONS = Number(process.env.PLINTH_CREATIONS ?? 50);
const RESTORES = Number(process.env.PLINTH_RESTORES ?? 20);
const MOVES = Number(process.env.PLINTH_MOVES ?? 10);

let plinth: TestPlinth;
let source: TestProject;
beforeAll(async () => {
  plinth = await TestPlinth.start();
  source = await plinth.createProject();
  await source.sql('create table notes (id int primary key); insert into notes values (1)');
}, 60_000);
afterAll(() => plinth.stop(), 120_000);

/** @param places the servers that get databases during the race */
async function expectNoEntry(places: readonly string[], work: () => Promise<void>): Promise<void> {
  const races: EntryRace[] = [];
  for (const server of places) {
    const attacker = await TestProject.create(plinth, { server });
    races.push(new EntryRace(await accessOf(plinth, attacker.id), CONNECTIONS));
  }
  for (const race of races) race.start();
  await work();
  for (const race of races) await race.stop();
  for (const { raced, answers, entered } of races) {
    process.stdout.write(`${JSON.stringify({ raced, entered: entered.size, answers })}\n`);
    expect(raced).toBeGreaterThan(0);
    expect([...entered]).toEqual([]);
  }
}

it(`lets no other role connect to ${CREATIONS} databases that are created`, async () => {
  await expectNoEntry(['platform'], async () => {
    for (let made = 0; made < CREATIONS; made += 1) await plinth.createProject();
  });
}, 600_000);

it(`lets no other role connect to ${RESTORES} databases that are restored`, async () => {
  const archive = await backUp(plinth, source.id);
  await expectNoEntry(['platform'], async () => {
    for (let made = 0; made < RESTORES; made += 1) {
      const restored = await restore(plinth, archive, { query: `?slug=raced-${made}` });
      expect(restored.status).toBe(201);
    }
  });
}, 600_000);

(hasPostgres ? it : it.skip)(
  `lets no other role connect to databases that move ${MOVES} times`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-entry-'));
    chmodSync(directory, 0o755);
    const other = await PostgresServer.primary(directory);
    try {
      await plinth.admin.post('/admin/v1/servers', { name: 'other', url: other.url });
      await expectNoEntry(['platform', 'other'], async () => {
        const path = `/admin/v1/projects/${source.id}/move`;
        for (let move = 0; move < MOVES; move += 1) {
          const server = move % 2 === 0 ? 'other' : 'platform';
          expect((await plinth.admin.post(path, { server })).status).toBe(202);
          await eventually(
            async () => expect((await plinth.admin.get(path)).body.finished_at).not.toBeNull(),
            60_000,
          );
          expect((await plinth.admin.get(path)).body).toMatchObject({ status: 'done', error: null });
        }
      });
    } finally {
      const { body } = await plinth.admin.get('/admin/v1/projects?limit=500');
      const there = body.filter(({ server }) => server === 'other');
      for (const { id } of there) await plinth.admin.delete(`/admin/v1/projects/${id}`);
      await other.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
  600_000,
);
