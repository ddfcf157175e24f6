/** A separate database with a repository that reads its catalog, for tests of the catalog. */
import type { Client } from 'pg';
import type { ProjectDatabase } from '../../src/database/pools/project-database';
import type { ProjectPools } from '../../src/database/pools/project-pools';
import { RlsTransaction } from '../../src/database/rls/rls-transaction';
import { CatalogRepository } from '../../src/rest/catalog/catalog.repository';
import { amplePools, TestDatabase } from './test-database';

interface CatalogDatabase {
  readonly pools: ProjectPools;
  readonly repository: CatalogRepository;
  readonly database: ProjectDatabase;
  readonly owner: Client;
  readonly drop: () => Promise<void>;
}

export async function createCatalogDatabase(): Promise<CatalogDatabase> {
  const pools = amplePools();
  const made = await TestDatabase.create();
  const drop = async (): Promise<void> => {
    await pools.close();
    await made.drop();
  };
  const repository = new CatalogRepository(new RlsTransaction(pools));
  return { pools, repository, database: made.place, owner: made.owner, drop };
}
