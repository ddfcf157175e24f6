/** The cache of catalogs and their listening connections. Contents and updates: rest-catalog.int-spec.ts. */
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { type Catalog, nameKey } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { catalogSize } from '../../src/rest/catalog/catalog-size';
import { CATALOG_ENTRIES, CatalogService } from '../../src/rest/catalog/catalog.service';
import { eventually } from '../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

/** In sequence they take three times as long. */
const AT_A_TIME = 10;
/** Tables of 1,500 columns, so that a few catalogs reach the limit. */
const WIDE_TABLES = 6;
const THINGS = nameKey({ schema: 'public', name: 'things' });

let plinth: TestPlinth;
let service: CatalogService;

beforeAll(async () => {
  // Databases without LISTEN are polled, and would compete for connections.
  plinth = await TestPlinth.start({ env: { DATABASE_MAX_CONNECTIONS: '60' } });
  service = plinth.app.get(CatalogService);
});
afterAll(() => plinth.stop());

async function newDatabase(schema: string): Promise<{ project: TestProject; database: ProjectDatabase }> {
  const project = await plinth.createProject();
  await project.sql(schema);
  const found = await plinth.app.get(ProjectRegistry).findById(project.id);
  return { project, database: found?.database as ProjectDatabase };
}

it('keeps the most recently used catalogs within a limit of memory, and reads an evicted one again', async () => {
  const { database } = await newDatabase(`create table things (id int);
    do $$ begin for t in 1..${WIDE_TABLES} loop
      execute format('create table wide_%s (%s)', t, (select string_agg('c' || n || ' int', ', ') from generate_series(1, 1500) n));
    end loop; end $$`);
  const read = jest.spyOn(plinth.app.get(CatalogRepository), 'read');
  const nameOf = (number: number): string => `project ${number}`;
  /** Uses a project's database under other keys, which the service treats as many. @returns those whose catalogs were read */
  const readsFor = async (...numbers: number[]): Promise<string[]> => {
    read.mockClear();
    const used = numbers.map((number) => ({ ...database, key: nameOf(number) }));
    const catalogs = await Promise.all(used.map(async (one) => service.current(one)));
    for (const { relations } of catalogs) expect(relations.has(THINGS)).toBe(true);
    return read.mock.calls.map(([{ key }]) => key);
  };
  await readsFor(0);
  const catalog: Catalog = await service.current({ ...database, key: nameOf(0) });
  const kept = Math.floor(CATALOG_ENTRIES / catalogSize(catalog));
  expect(kept).toBeGreaterThan(AT_A_TIME);
  for (let first = 1; first < kept; first += AT_A_TIME) {
    const some = Array.from({ length: Math.min(AT_A_TIME, kept - first) }, (_, index) => first + index);
    expect(new Set(await readsFor(...some))).toEqual(new Set(some.map(nameOf)));
  }
  expect(await readsFor(0)).toEqual([]);
  // One more than fits; 1 is the least recently used.
  expect(new Set(await readsFor(kept))).toEqual(new Set([nameOf(kept)]));
  expect(await readsFor(0)).toEqual([]);
  expect(new Set(await readsFor(1))).toEqual(new Set([nameOf(1)]));
}, 60_000);

it('listens for changes of a project that is used again, until it is idle', async () => {
  const { project, database } = await newDatabase('create table things (id int)');
  const listeners = (): Promise<number | null> =>
    asSuperuser(database.database, async (client) => {
      const { rowCount } = await client.query(
        `select from pg_stat_activity where application_name = 'plinth-listen' and datname = current_database()`,
      );
      return rowCount;
    });
  await service.current(database);
  expect(await listeners()).toBe(0);
  await service.current(database);
  await eventually(async () => expect(await listeners()).toBe(1));
  await service.current(database);
  service.closeIdleListeners();
  expect(await listeners()).toBe(1);
  service.closeIdleListeners();
  await eventually(async () => expect(await listeners()).toBe(0));
  await asOwner(await accessOf(plinth, project.id), (owner) =>
    owner.query('create table while_idle (id int)'),
  );
  const { relations } = await service.current(database);
  expect(relations.has(nameKey({ schema: 'public', name: 'while_idle' }))).toBe(true);
});
