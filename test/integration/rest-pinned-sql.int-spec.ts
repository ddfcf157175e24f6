/**
 * The statements that compile-request.spec.ts pins, run on the schema that they were compiled for: each is prepared and
 * executed, must return the rows listed next to it, and is rolled back.
 */
import { RlsTransaction } from '../../src/database/rls/rls-transaction';
import type { Catalog } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { catalogOf, EXAMPLE_ROWS } from '../support/example-catalog';
import { EXAMPLE_SCHEMA } from '../support/example-schema';
import { PINNED_REQUESTS } from '../support/pinned-requests/all';
import { amplePools, TestDatabase } from '../support/test-database';

const pools = amplePools();
let database: TestDatabase;

beforeAll(async () => {
  database = await TestDatabase.create();
  await database.owner.query(EXAMPLE_SCHEMA);
});
afterAll(async () => {
  await pools.close();
  await database.drop();
});

/** The parts of a catalog that plans depend on; privileges belong to roles, not to a schema. */
function plannedBy({ relations, relationships, routines }: Catalog) {
  return {
    relations: [...relations.values()]
      .map(({ grantees: _grantees, hiddenFrom: _hidden, closedTo: _closed, columns, ...relation }) => ({
        ...relation,
        columns: [...columns.values()],
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    relationships,
    routines,
  };
}

it('is the schema of the example catalog', async () => {
  const rows = await new CatalogRepository(new RlsTransaction(pools)).read(database.place);
  expect(plannedBy(catalogOf(rows))).toEqual(plannedBy(catalogOf(EXAMPLE_ROWS)));
});

describe('a pinned statement runs and returns its rows', () => {
  beforeEach(async () => {
    await database.owner.query('begin');
    // Sequences are not rolled back.
    await database.owner.query('alter table projects alter column id restart');
  });
  afterEach(() => database.owner.query('rollback'));

  it.each(PINNED_REQUESTS)('%s', async (title, { statements, leaves }) => {
    for (const [index, { text, values, rows }] of statements.entries()) {
      const result = await database.owner.query({
        name: `${PINNED_REQUESTS.findIndex(([one]) => one === title)}_${index}`,
        text,
        values: [...values],
        rowMode: 'array',
      });
      expect(result.rows).toEqual(rows);
    }
    if (!leaves) return;
    const left = await database.owner.query({ text: leaves.query, rowMode: 'array' });
    expect(left.rows).toEqual(leaves.rows);
  });
});
