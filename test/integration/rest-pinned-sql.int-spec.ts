/**
 * The statements that compile-request.spec.ts pins, run on the schema that they were compiled for: each is prepared and
 * executed, gives the rows that stand beside it, and is undone.
 */
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { ProjectPools } from '../../src/database/pools/project-pools';
import { RlsTransaction } from '../../src/database/rls/rls-transaction';
import { buildCatalog } from '../../src/rest/catalog/build-catalog';
import type { Catalog } from '../../src/rest/catalog/catalog';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { EXAMPLE_ROWS } from '../support/example-catalog';
import { EXAMPLE_SCHEMA } from '../support/example-schema';
import { asSuperuser } from '../support/owner-connection';
import { PINNED_REQUESTS } from '../support/pinned-requests/all';

const name = `rest_pinned_${randomBytes(4).toString('hex')}`;
const pools = new ProjectPools({
  total: 1,
  perProject: 1,
  lentFreely: 1,
  acquireTimeoutMs: 5_000,
  idleTimeoutMs: 60_000,
  maxWaiting: 10,
});
const url = new URL(process.env.PLINTH_TEST_DATABASE_URL ?? '');
let client: Client;

beforeAll(async () => {
  await asSuperuser('postgres', (admin) => admin.query(`create database ${name}`));
  client = new Client({ connectionString: Object.assign(new URL(url), { pathname: `/${name}` }).href });
  await client.connect();
  await client.query(EXAMPLE_SCHEMA);
});

afterAll(async () => {
  await pools.close();
  await client.end();
  await asSuperuser('postgres', (admin) => admin.query(`drop database ${name} with (force)`));
});

/** What plans go by; rights are given to roles, which belong to no schema. */
function plannedBy({ relations, relationships, routines }: Catalog) {
  return {
    relations: [...relations.values()]
      .map(({ grantees: _grantees, columns, ...relation }) => ({
        ...relation,
        columns: [...columns.values()],
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    relationships,
    routines,
  };
}

it('is the schema of the example catalog', async () => {
  const rows = await new CatalogRepository(new RlsTransaction(pools)).read({
    key: name,
    host: url.hostname,
    port: Number(url.port),
    database: name,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    ssl: false,
  });
  expect(plannedBy(buildCatalog(rows))).toEqual(plannedBy(buildCatalog(EXAMPLE_ROWS)));
});

describe('a pinned statement runs and gives its rows', () => {
  beforeEach(async () => {
    await client.query('begin');
    // Numbers that were given out stay so after a rollback.
    await client.query('alter table projects alter column id restart');
  });
  afterEach(() => client.query('rollback'));

  it.each(PINNED_REQUESTS)('%s', async (title, { statements, leaves }) => {
    for (const [index, { text, values, rows }] of statements.entries()) {
      const result = await client.query({
        name: `${PINNED_REQUESTS.findIndex(([one]) => one === title)}_${index}`,
        text,
        values: [...values],
        rowMode: 'array',
      });
      expect(result.rows).toEqual(rows);
    }
    if (!leaves) return;
    const left = await client.query({ text: leaves.query, rowMode: 'array' });
    expect(left.rows).toEqual(leaves.rows);
  });
});
