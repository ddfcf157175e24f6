/** The stream of a database's changes, as a move of a project follows it. */
import { SourceChanges } from '../../src/move/catch-up/source-changes';
import { DatabaseServer } from '../../src/provisioning/database-server';
import type { Place } from '../../src/move/move-places';
import { eventually } from '../support/eventually';
import { TestDatabase } from '../support/test-database';

const MIB = 1024 * 1024;

let database: TestDatabase;
beforeAll(async () => (database = await TestDatabase.create()));
afterAll(() => database.drop());

it('ends with an error at a row of more than 64 MiB, and leaves neither slot nor publication', async () => {
  const { owner, place } = database;
  const { rows } = await owner.query<{ wal_level: string }>('show wal_level');
  // A server of CI can lack logical decoding.
  if (rows[0]?.wal_level !== 'logical') return;
  await owner.query('create table texts (id int primary key, t text)');
  const server = new DatabaseServer(process.env.PLINTH_TEST_DATABASE_URL as string);
  const source = { server, project: { databaseName: place.database } } as Place;
  const slots = async (): Promise<number | null> =>
    (await owner.query('select from pg_replication_slots where database = $1', [place.database])).rowCount;
  await SourceChanges.during(source, [{ schema: 'public', name: 'texts' }], 0, async (changes) => {
    await changes.begin((snapshot) => Promise.resolve(expect(snapshot).toMatch(/^[\w-]+$/)));
    expect(await slots()).toBe(1);
    changes.stream();
    await owner.query(`insert into texts values (1, repeat('a', ${MIB})), (2, repeat('b', ${65 * MIB}))`);
    const kinds: string[] = [];
    const all = async (): Promise<never> => {
      for (;;) kinds.push((await changes.next()).message.kind);
    };
    await expect(all()).rejects.toThrow('64 MiB');
    expect(kinds).toEqual(['begin', 'relation', 'insert']);
  });
  await eventually(async () => expect(await slots()).toBe(0));
  expect((await owner.query('select from pg_publication')).rowCount).toBe(0);
}, 60_000);
