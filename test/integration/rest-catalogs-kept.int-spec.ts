/** The cache of catalogs. Their contents and updates: rest-catalog.int-spec.ts. */
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { nameKey } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { CatalogService } from '../../src/rest/catalog/catalog.service';
import { TestPlinth } from '../support/plinth';

/** Number of cached catalogs. */
const KEPT = 200;
/** Number that listen. These may read twice, because a read before LISTEN may be outdated. */
const LISTENERS = 16;
/** In sequence they take three times as long. */
const AT_A_TIME = 10;
const THINGS = nameKey({ schema: 'public', name: 'things' });

let plinth: TestPlinth;
let service: CatalogService;
/** Pools of one project under different keys, which the service treats as many databases. */
let database: ProjectDatabase;

beforeAll(async () => {
  // Databases without LISTEN are polled, and would compete for connections.
  plinth = await TestPlinth.start({ env: { DATABASE_MAX_CONNECTIONS: '60' } });
  const project = await plinth.createProject();
  await project.sql('create table things (id int)');
  database = (await plinth.app.get(ProjectRegistry).findById(project.id))?.database as ProjectDatabase;
  service = plinth.app.get(CatalogService);
});
afterAll(() => plinth.stop());

it('keeps the most recently used catalogs, and reads an evicted one again', async () => {
  const read = jest.spyOn(plinth.app.get(CatalogRepository), 'read');
  const nameOf = (number: number): string => `project ${number}`;
  /** Uses projects in this order. @returns those whose catalogs were read */
  const readsFor = async (...numbers: number[]): Promise<string[]> => {
    read.mockClear();
    const used = numbers.map((number) => ({ ...database, key: nameOf(number) }));
    const catalogs = await Promise.all(used.map(async (one) => service.current(one)));
    for (const { relations } of catalogs) expect(relations.has(THINGS)).toBe(true);
    // After LISTEN the catalog is checked once more; wait for that before others are used.
    await Promise.all(used.map((one) => service.verified(one)));
    return read.mock.calls.map(([{ key }]) => key);
  };
  let reads = 0;
  for (let first = 0; first < KEPT; first += AT_A_TIME) {
    const some = Array.from({ length: AT_A_TIME }, (_, index) => first + index);
    const theirs = await readsFor(...some);
    expect(new Set(theirs)).toEqual(new Set(some.map(nameOf)));
    reads += theirs.length;
  }
  expect(reads).toBeLessThanOrEqual(KEPT + LISTENERS);
  expect(await readsFor(0)).toEqual([]);
  // One more than fits; 1 is the least recently used.
  expect(new Set(await readsFor(KEPT))).toEqual(new Set([nameOf(KEPT)]));
  expect(await readsFor(0)).toEqual([]);
  expect(new Set(await readsFor(1))).toEqual(new Set([nameOf(1)]));
}, 60_000);
