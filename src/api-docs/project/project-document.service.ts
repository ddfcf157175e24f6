/**
 * The OpenAPI document of a project, as a role may see it. Kept as long as the catalog that it was made of: asking again
 * costs no round trip with a key, and the session check with a user's token.
 */
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../access/caller';
import { CallerCheck } from '../../access/caller-check.service';
import type { Catalog } from '../../rest/catalog/catalog';
import { CatalogService } from '../../rest/catalog/catalog.service';
import { DocumentService } from '../document.service';
import { ProjectFactsRepository } from './project-facts.repository';
import { writeProjectDocument } from './write-project-document';

/** Bytes of documents in memory; one of a thousand tables has a few millions. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Who is a member of which role is no DDL, so nothing announces it. */
const CACHED_MS = 60_000;

export interface ProjectDocument {
  readonly body: Buffer;
  /** Strong, with its quotes. */
  readonly etag: string;
}

interface Kept {
  readonly document: ProjectDocument;
  readonly catalog: Catalog;
}

@Injectable()
export class ProjectDocumentService {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ document }) => document.body.length,
    ttl: CACHED_MS,
  });
  private readonly running = new Map<string, Promise<ProjectDocument>>();

  constructor(
    private readonly platform: DocumentService,
    private readonly catalogs: CatalogService,
    private readonly facts: ProjectFactsRepository,
    private readonly callers: CallerCheck,
  ) {}

  /** @throws AppError 401 for a caller that the database refuses */
  async get(caller: Caller): Promise<ProjectDocument> {
    await this.callers.assertWelcome(caller);
    const catalog = await this.catalogs.current(caller.database);
    const key = keyOf(caller);
    const kept = this.kept.get(key);
    if (kept?.catalog === catalog) return kept.document;
    return this.shared(`${catalog.fingerprint}\0${key}`, async () => {
      const document = await this.make(caller, catalog);
      this.kept.set(key, { document, catalog });
      return document;
    });
  }

  /** Who asks for the same at the same time shares the work. */
  private shared(key: string, make: () => Promise<ProjectDocument>): Promise<ProjectDocument> {
    const running = this.running.get(key);
    if (running) return running;
    const made = make().finally(() => this.running.delete(key));
    this.running.set(key, made);
    return made;
  }

  private async make({ project, database, role }: Caller, catalog: Catalog): Promise<ProjectDocument> {
    const schemas = schemasOf(project.settings.exposed_schemas);
    const facts = await this.facts.read(database, role, schemas);
    const platform = this.platform.get();
    const { body, digest } = await writeProjectDocument({ platform, project, role, schemas, catalog, facts });
    return { body, etag: `"${digest}"` };
  }
}

/** All that a document is made of besides the schema. */
function keyOf({ project, role }: Caller): string {
  const { id, slug, name, settings } = project;
  return JSON.stringify([id, role, slug, name, settings.exposed_schemas]);
}

/** Whatever a project sets: accounts, sessions and tokens are nobody's interface. */
function schemasOf(exposed: readonly string[]): string[] {
  return exposed.filter((schema) => schema !== 'auth');
}
