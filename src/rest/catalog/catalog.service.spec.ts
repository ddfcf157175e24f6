/** Which catalogs stay in memory. What is in them, and how they follow DDL: test/integration/rest-catalog.int-spec.ts. */
import { EXAMPLE_ROWS } from '../../../test/support/example-catalog';
import type { ProjectDatabase } from '../../database/pools/project-database';
import type { ProjectRegistry } from '../../projects/project-registry.service';
import { CatalogService } from './catalog.service';
import type { CatalogRepository } from './catalog.repository';

/** As many as are kept. */
const KEPT = 200;

/** Nobody listens there: announcements are no part of this. */
const NOWHERE = { host: '127.0.0.1', port: 1, user: 'nobody', password: '', ssl: false };
const databaseOf = (key: string): ProjectDatabase => ({ ...NOWHERE, key, database: key });

it('keeps the catalogs of the projects used last, and reads one that was dropped anew', async () => {
  const reads: string[] = [];
  const read = ({ key }: ProjectDatabase) => {
    reads.push(key);
    return Promise.resolve(EXAMPLE_ROWS);
  };
  const fingerprint = () => Promise.resolve(EXAMPLE_ROWS.fingerprint);
  const service = new CatalogService(
    { read, fingerprint } as unknown as CatalogRepository,
    { onChange: () => undefined } as unknown as ProjectRegistry,
  );
  const use = async (number: number) => service.current(databaseOf(`project ${number}`));
  for (let number = 0; number < KEPT; number += 1) await use(number);
  await use(0);
  expect(reads).toHaveLength(KEPT);
  // One more than fit: of the others, 1 was used longest ago.
  await use(KEPT);
  await use(0);
  expect(reads).toHaveLength(KEPT + 1);
  await use(1);
  expect(reads.slice(-2)).toEqual([`project ${KEPT}`, 'project 1']);
  await service.onApplicationShutdown();
});
