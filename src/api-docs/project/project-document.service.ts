/**
 * The OpenAPI document of a project, as a role may see it. Cached for as long as the catalog it was built from:
 * a repeated request costs no round trip with a key, and the session check with a user's token.
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import { AppError } from '../../common/errors/app-error';
import { Slots } from '../../infra/concurrency/slots';
import type { Catalog } from '../../rest/catalog/catalog';
import { CatalogService } from '../../rest/catalog/catalog.service';
import { DocumentService } from '../document.service';
import type { DocumentFormat } from '../openapi/document-writer';
import { type ServedDocument, toServed } from '../openapi/served-document';
import { ProjectFactsRepository } from './project-facts.repository';
import { writeProjectDocument } from './write-project-document';

/** Limit for the bytes of cached documents; one of a thousand tables has a few million. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Changes of role memberships are not announced like DDL, so documents are rebuilt after this time. */
const CACHED_MS = 60_000;

/** Documents built at once, of all projects: for thousands of tables each takes a query of a second, and memory. */
const AT_ONCE = 2;
const MAX_WAITING = 100;

interface Kept {
  readonly document: ServedDocument;
  readonly catalog: Catalog;
}

@Injectable()
export class ProjectDocumentService {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ document }) => document.size,
    ttl: CACHED_MS,
  });
  private readonly slots = new Slots(AT_ONCE, MAX_WAITING);
  private readonly running = new Map<string, Promise<ServedDocument>>();

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
    const key = keyOf(caller, format);
    const kept = this.kept.get(key);
    if (kept?.catalog === catalog) return kept.document;
    return this.shared(`${catalog.fingerprint}\0${key}`, async () => {
      const document = await this.slots.use(() => this.make(caller, catalog, format), tooManyDocuments);
      this.kept.set(key, { document, catalog });
      return document;
    });
  }

  /** Simultaneous requests for the same document share one build. */
  private shared(key: string, make: () => Promise<ServedDocument>): Promise<ServedDocument> {
    const running = this.running.get(key);
    if (running) return running;
    const made = make().finally(() => this.running.delete(key));
    this.running.set(key, made);
    return made;
  }

  private async make(
    { project, database, role }: Caller,
    catalog: Catalog,
    format: DocumentFormat,
  ): Promise<ServedDocument> {
    const schemas = schemasOf(project.settings.exposed_schemas);
    const facts = await this.facts.read(database, role, schemas);
    const platform = this.platform.model();
    return toServed(await writeProjectDocument({ platform, project, role, schemas, catalog, facts }, format));
  }
}

/** Everything that determines a document besides the schema. */
function keyOf({ project, role }: Caller, { version, syntax }: DocumentFormat): string {
  const { id, slug, name, settings } = project;
  return JSON.stringify([id, role, slug, name, settings.exposed_schemas, version, syntax]);
}

/** Schemas that are never documented, whatever a project exposes: accounts, sessions and tokens are internal. */
function schemasOf(exposed: readonly string[]): string[] {
  return exposed.filter((schema) => schema !== 'auth');
}

function tooManyDocuments(): AppError {
  return new AppError({
    status: 503,
    code: 'service_unavailable',
    message: 'The service is busy: too many documents are being built',
    headers: { 'Retry-After': '2' },
    database: { sqlstate: 'PL503' },
  });
}
