/** Which catalogs stay in memory. What is in them, and how they follow DDL: rest-catalog.int-spec.ts. */
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import { ProjectRegistry } from '../../src/projects/project-registry.service';
import { nameKey } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { CatalogService } from '../../src/rest/catalog/catalog.service';
import { TestPlinth } from '../support/plinth';

/** As many as are kept. */
const KEPT = 200;
/** As many listen, and may read twice: what was read before they did could be old. */
const LISTENERS = 16;
/** One after the other they take three times as long. */
const AT_A_TIME = 10;
const THINGS = nameKey({ schema: 'public', name: 'things' });

let plinth: TestPlinth;
let service: CatalogService;
/** Of one project; under a key each, the service takes it for the databases of many. */
let database: ProjectDatabase;

beforeAll(async () => {
  // Those that don't listen are polled, and would take the connections from each other.
  plinth = await TestPlinth.start({ env: { DATABASE_MAX_CONNECTIONS: '60' } });
  const project = await plinth.createProject();
  await project.sql('create table things (id int)');
  database = (await plinth.app.get(ProjectRegistry).findById(project.id))?.database as ProjectDatabase;
  service = plinth.app.get(CatalogService);
});
afterAll(() => plinth.stop());

it('keeps the catalogs of the projects used last, and reads one that was dropped anew', async () => {
  const read = jest.spyOn(plinth.app.get(CatalogRepository), 'read');
  const nameOf = (number: number): string => `project ${number}`;
  /** Uses projects, in this order. @returns those whose catalogs were read for it */
  const readsFor = async (...numbers: number[]): Promise<string[]> => {
    read.mockClear();
    const used = numbers.map((number) => ({ ...database, key: nameOf(number) }));
    const catalogs = await Promise.all(used.map(async (one) => service.current(one)));
    for (const { relations } of catalogs) expect(relations.has(THINGS)).toBe(true);
    // One that listens looks once more when it has begun to: that is over before others are used.
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
  // One more than fit: of the others, 1 was used longest ago.
  expect(new Set(await readsFor(KEPT))).toEqual(new Set([nameOf(KEPT)]));
  expect(await readsFor(0)).toEqual([]);
  expect(new Set(await readsFor(1))).toEqual(new Set([nameOf(1)]));
}, 60_000);
