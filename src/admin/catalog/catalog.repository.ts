/** The tables and views of a project with their columns, keys, indexes and policies, as its owner sees them. */
import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectEntity } from '../../projects/project.entity';
import { CatalogRelation } from './catalog-records';
import { CATALOG } from './catalog-sql';

const TIMEOUT_MS = 30_000;

@Injectable()
export class CatalogRepository {
  constructor(private readonly owner: OwnerDatabase) {}

  /** @throws DatabaseFault if the catalog has more than 16 MiB */
  list(project: ProjectEntity): Promise<CatalogRelation[]> {
    return this.owner.use(
      project,
      'the administrator reads the catalog',
      async (client) => (await client.query<CatalogRelation>(CATALOG)).rows,
      { statement_timeout: TIMEOUT_MS },
    );
  }
}
