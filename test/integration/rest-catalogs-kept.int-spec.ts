/** The cache of catalogs and its notifications. rest-catalog.int-spec.ts tests contents and updates. */
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { type Catalog, nameKey, catalogSize } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { CATALOG_ENTRIES, CatalogService, LARGE_CATALOG } from '../../src/rest/catalog/catalog.service';
import { eventually } from '../support/eventually';
import { accessOf, asOwner, asSuperuser } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

/** Number of concurrent reads, because sequential reads take three times as long. */
const AT_A_TIME = 10;
/** Tables of 1,500 columns, so that a few catalogs reach the limit. */
const WIDE_TABLES = 6;
const THINGS = nameKey({ schema: 'public', name: 'things' });

let plinth: TestPlinth;
let service: CatalogService;

beforeAll(async () => {
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

/** A table `things`, and wide tables. */
const schemaOf = (wideTables: number): string => `create table things (id int);
  do $$ begin for t in 1..${wideTables} loop
    execute format('create table wide_%s (%s)', t, (select string_agg('c' || n || ' int', ', ') from generate_series(1, 1500) n));
  end loop; end $$`;

/**
 * Uses one database under several keys, which the service treats as several databases. @returns the keys whose catalogs
 * were read
 */
async function readsFor(database: ProjectDatabase, keys: string[]): Promise<string[]> {
  const read = jest.spyOn(plinth.app.get(CatalogRepository), 'read');
  read.mockClear();
  const used = keys.map((key) => ({ ...database, key }));
  const catalogs = await Promise.all(used.map(async (one) => service.current(one)));
  for (const { relations } of catalogs) expect(relations.has(THINGS)).toBe(true);
  return read.mock.calls.map(([{ key }]) => key);
}

it('keeps the most recently used catalogs within a limit of memory, and reads an evicted one again', async () => {
  const { database } = await newDatabase(schemaOf(WIDE_TABLES));
  const nameOf = (number: number): string => `project ${number}`;
  const reads = (...numbers: number[]): Promise<string[]> => readsFor(database, numbers.map(nameOf));
  await reads(0);
  const catalog: Catalog = await service.current({ ...database, key: nameOf(0) });
  const kept = Math.floor(CATALOG_ENTRIES / catalogSize(catalog));
  expect(kept).toBeGreaterThan(AT_A_TIME);
  for (let first = 1; first < kept; first += AT_A_TIME) {
    const some = Array.from({ length: Math.min(AT_A_TIME, kept - first) }, (_, index) => first + index);
    expect(new Set(await reads(...some))).toEqual(new Set(some.map(nameOf)));
  }
  expect(await reads(0)).toEqual([]);
  // The cache has room for one less; 1 is the least recently used.
  expect(new Set(await reads(kept))).toEqual(new Set([nameOf(kept)]));
  expect(await reads(0)).toEqual([]);
  expect(new Set(await reads(1))).toEqual(new Set([nameOf(1)]));
}, 60_000);

it('evicts large catalogs only for large catalogs', async () => {
  const small = (await newDatabase(schemaOf(0))).database;
  const large = (await newDatabase(schemaOf(Math.ceil(LARGE_CATALOG / 1_500)))).database;
  await readsFor(small, ['small']);
  await readsFor(large, ['large 0']);
  const size = catalogSize(await service.current({ ...large, key: 'large 0' }));
  expect(size).toBeGreaterThan(LARGE_CATALOG);
  const more = Math.ceil(CATALOG_ENTRIES / size);
  for (let n = 1; n <= more; n += 1) await readsFor(large, [`large ${n}`]);
  expect(await readsFor(small, ['small'])).toEqual([]);
  expect(await readsFor(large, [`large ${more}`])).toEqual([]);
  expect(await readsFor(large, ['large 0'])).toEqual(['large 0']);
}, 60_000);

it('learns of changes of a project in use through a connection of its pool, without another connection', async () => {
  const { project, database } = await newDatabase('create table things (id int)');
  const compared = jest.spyOn(plinth.app.get(CatalogRepository), 'fingerprint');
  await service.current(database);
  await service.current(database);
  const connections = await asSuperuser(database.database, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select application_name as name from pg_stat_activity
       where datname = current_database() and application_name in ('plinth', 'plinth-listen')`,
    );
    return rows.map(({ name }) => name);
  });
  expect(connections).toEqual(['plinth']);
  await asOwner(await accessOf(plinth, project.id), (owner) => owner.query('create table added (id int)'));
  await eventually(async () => {
    const { relations } = await service.current(database);
    expect(relations.has(nameKey({ schema: 'public', name: 'added' }))).toBe(true);
  });
  expect(compared.mock.calls.filter(([{ key }]) => key === database.key)).toEqual([]);
});
