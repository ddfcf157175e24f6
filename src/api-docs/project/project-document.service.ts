/**
 * The OpenAPI document of a project, as a role may see it. Cached for as long as the catalog it was built from:
 * a repeated request costs no round trip with a key, and the session check with a user's token.
 */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { inSlices } from '../../common/time/slices';
import type { Catalog } from '../../rest/catalog/catalog';
import { CatalogService } from '../../rest/catalog/catalog.service';
import { DocumentService } from '../document.service';
import type { DocumentFormat } from '../openapi/document-writer';
import { type ServedDocument, toServed } from '../openapi/served-document';
import { RoleDocuments } from '../role-documents';
import { ProjectFactsRepository } from './project-facts.repository';
import { documentedSchemas, visibleSchema } from './visible-schema';
import { writeProjectDocument } from './write-project-document';

@Injectable()
export class ProjectDocumentService {
  private readonly documents = new RoleDocuments();

  constructor(
    private readonly platform: DocumentService,
    private readonly catalogs: CatalogService,
    private readonly facts: ProjectFactsRepository,
    private readonly callers: CallerCheck,
  ) {}

  /** @throws AppError 401 for a caller that the database refuses, 503 when too many documents are being built */
  async get(caller: Caller, format: DocumentFormat): Promise<ServedDocument> {
    await this.callers.assertValid(caller);
    const catalog = await this.catalogs.current(caller.database);
    return this.documents.get(caller.project.id, keyOf(caller, format), catalog, () =>
      this.make(caller, catalog, format),
    );
  }

  private async make(
    { project, database, role }: Caller,
    catalog: Catalog,
    format: DocumentFormat,
  ): Promise<ServedDocument> {
    const schemas = documentedSchemas(project);
    const facts = await this.facts.read(database, role, schemas);
    const platform = this.platform.model();
    const visible = await inSlices(visibleSchema(catalog, facts, schemas));
    return toServed(await writeProjectDocument({ platform, project, role, visible }, format));
  }
}

/** Everything that determines a document besides the schema. */
function keyOf({ project, role }: Caller, { version, syntax }: DocumentFormat): string {
  const { id, slug, name, settings } = project;
  return JSON.stringify([id, role, slug, name, settings.exposed_schemas, version, syntax]);
}
