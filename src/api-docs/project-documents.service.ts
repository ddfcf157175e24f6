/** A project's OpenAPI document, and other texts about its schema, limited to what the caller's role may see. */
import { Injectable } from '@nestjs/common';
import type { Caller } from '../access/caller';
import { CallerCheck } from '../access/caller-check.service';
import { inSlices } from '../common/time/slices';
import { SERVICE_ROLE } from '../projects/project-keys';
import { CatalogService } from '../rest/catalog/catalog.service';
import { DocumentService } from './document.service';
import type { ServedDocument } from './openapi/served-document';
import type { DocumentFormat } from './openapi/versions';
import { platformPart, type PlatformPart } from './project/platform-part';
import { ProjectFactsRepository } from '../visible-schema/project-facts.repository';
import { documentedSchemas, visibleSchema, type VisibleSchema } from '../visible-schema/visible-schema';
import { type ProjectDocumentSource, writeProjectDocument } from './project/write-project-document';
import { RoleDocuments } from './role-documents';
import { METHODS } from './openapi/model';
import { TABLE_REST_NAMES } from './table-rest/components';
import { GENERATOR_NAMES } from './project/names';
import { nameObjects, type ObjectNames } from './project/object-names';
import { typeName } from '../visible-schema/project-facts';

/** @param part the operations of auth and storage in the same document: their names, and those of their schemas, are reserved */
function visibleNames(visible: VisibleSchema, part: PlatformPart): Promise<ObjectNames> {
  const types = [...visible.types.values()];
  const steps = nameObjects({
    relations: visible.relations.map(({ relation }) => relation),
    types: types.filter(({ usable, labels, attributes }) => usable && (labels ?? attributes)).map(typeName),
    routines: visible.callable.map(([first]) => first),
    reservedSchemas: [
      ...GENERATOR_NAMES,
      ...TABLE_REST_NAMES.schemas,
      ...Object.keys(part.components.schemas ?? {}),
    ],
    reservedOperations: [...part.paths.values()].flatMap((item) =>
      METHODS.flatMap((method) => item[method]?.operationId ?? []),
    ),
    defaultSchema: visible.defaultSchema,
  });
  return inSlices(steps);
}

type Write = (source: ProjectDocumentSource) => Promise<ServedDocument>;

@Injectable()
export class ProjectDocumentsService {
  private readonly documents = new RoleDocuments();

  constructor(
    private readonly platform: DocumentService,
    private readonly catalogs: CatalogService,
    private readonly facts: ProjectFactsRepository,
    private readonly callers: CallerCheck,
  ) {}

  /** @throws AppError 401 for a caller that the database refuses, 503 when too many documents are being built */
  openApi(caller: Caller, format: DocumentFormat): Promise<ServedDocument> {
    return this.get(caller, format, (source) => writeProjectDocument(source, format));
  }

  /**
   * A text that is made from the part of the schema that the caller's role may see.
   * @param form what determines it besides the schema @throws AppError like openApi()
   */
  async get(caller: Caller, form: object, write: Write): Promise<ServedDocument> {
    await this.callers.assertValid(caller);
    const { project, role, database } = caller;
    const catalog = await this.catalogs.current(database);
    const { id, slug, name, settings } = project;
    const key = JSON.stringify([id, role, slug, name, settings.exposed_schemas, form]);
    return this.documents.get(id, key, catalog, async () => {
      const schemas = documentedSchemas(project);
      const facts = await this.facts.read(database, role, schemas);
      const platform = await this.platform.model();
      const visible = await inSlices(visibleSchema(catalog, facts, schemas));
      const part = platformPart(platform, project, role === SERVICE_ROLE);
      return write({ platform, part, project, role, visible, names: await visibleNames(visible, part) });
    });
  }
}
