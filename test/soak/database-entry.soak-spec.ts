/** Thirty connections of a hostile owner race against projects that are created and restored: none gets in. */
import { backUp, restore } from '../support/backups';
import { accessOf, asOwner } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';

const CONNECTIONS = 30;
const CREATIONS = Number(process.env.PLINTH_CREATIONS ?? 50);
const RESTORES = 10;

let plinth: TestPlinth;
beforeAll(async () => void (plinth = await TestPlinth.start()), 60_000);
afterAll(() => plinth.stop(), 120_000);

it('lets nobody into a database that is created or restored', async () => {
  const attacker = await accessOf(plinth, (await plinth.createProject()).id);
  const source = await plinth.createProject();
  await source.sql('create table notes (id int primary key); insert into notes values (1)');
  const archive = await backUp(plinth, source.id);
  let isOver = false;
  let attempts = 0;
  const entered = new Set<string>();

  /** Tries the newest database of the server again and again. */
  const race = async (): Promise<void> => {
    while (!isOver) {
      await asOwner(attacker, async (client) => {
        for (let round = 0; round < 200 && !isOver; round += 1) {
          const { rows } = await client.query<{ name: string }>(
            `select datname as name from pg_database where datname ~ '^plinth_[0-9a-z]+$' and datname <> current_database()
             order by oid desc limit 1`,
          );
          const database = rows[0]?.name;
          if (database === undefined) continue;
          attempts += 1;
          await asOwner(attacker, async () => entered.add(database), { database }).catch(() => undefined);
        }
      }).catch(() => undefined);
    }
  };
  const races = Array.from({ length: CONNECTIONS }, race);
  for (let made = 0; made < CREATIONS; made += 1) await plinth.createProject();
  for (let made = 0; made < RESTORES; made += 1) {
    const restored = await restore(plinth, archive, { query: `?slug=raced-${made}` });
    expect(restored.status).toBe(201);
  }
  isOver = true;
  await Promise.all(races);
  process.stdout.write(`${attempts} attempts to enter\n`);
  expect(attempts).toBeGreaterThan(CREATIONS);
  expect([...entered]).toEqual([]);
}, 600_000);
