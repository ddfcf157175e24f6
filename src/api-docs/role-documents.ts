/**
 * Documents about a project's schema, as a role may see them: cached for as long as the catalog they were built from.
 * A repeated request costs no round trip. Simultaneous requests share one build, and few builds run at once.
 */
import { LRUCache } from 'lru-cache';
import { type AppError, busy } from '../common/errors/app-error';
import { Slots } from '../admission/slots';
import type { Catalog } from '../rest/catalog/catalog';
import { DocumentTooLargeError, type ServedDocument } from './openapi/served-document';

/** Maximum number of bytes of cached documents; one of 5,000 tables has a few million, compressed. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Changes of role memberships are not announced like DDL, so documents are rebuilt after this time. */
const CACHED_MS = 60_000;

/** Documents built concurrently for all projects: with thousands of tables, each takes memory and a query of a second. */
const CONCURRENCY = 2;
const MAX_WAITING = 100;
const LIMITS = { perTenant: 1, waitTimeoutMs: Infinity };

interface Kept {
  /** An error for a document that is too large, so that it is not written again for each request. */
  readonly document: ServedDocument | DocumentTooLargeError;
  readonly catalog: Catalog;
}

export class RoleDocuments {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ document }) => bytesOf(document),
    ttl: CACHED_MS,
  });
  private readonly slots = new Slots(CONCURRENCY, MAX_WAITING, LIMITS);
  private readonly running = new Map<string, Promise<ServedDocument>>();

  /**
   * @param tenant id of the project: projects take turns
   * @param key everything that determines a document besides the schema
   * @throws AppError 503 when too many documents are being built, DocumentTooLargeError
   */
  async get(
    tenant: string,
    key: string,
    catalog: Catalog,
    make: () => Promise<ServedDocument>,
  ): Promise<ServedDocument> {
    const kept = this.kept.get(key);
    if (kept?.catalog === catalog) return unlessRefused(kept.document);
    const runningKey = `${catalog.fingerprint}\0${key}`;
    const running = this.running.get(runningKey);
    if (running) return running;
    const inTurn = (): Promise<ServedDocument> => this.slots.use(make, tooManyDocuments, tenant);
    const made = this.keep(key, catalog, inTurn).finally(() => this.running.delete(runningKey));
    this.running.set(runningKey, made);
    return made;
  }

  private async keep(
    key: string,
    catalog: Catalog,
    make: () => Promise<ServedDocument>,
  ): Promise<ServedDocument> {
    const document = await make().catch((error: unknown) => {
      if (error instanceof DocumentTooLargeError) return error;
      throw error;
    });
    this.kept.set(key, { document, catalog });
    return unlessRefused(document);
  }
}

function unlessRefused(document: ServedDocument | DocumentTooLargeError): ServedDocument {
  if (document instanceof DocumentTooLargeError) throw document;
  return document;
}

/** At least 1, as the cache requires. */
const bytesOf = (document: ServedDocument | DocumentTooLargeError): number =>
  document instanceof DocumentTooLargeError
    ? 1
    : document.zipped.reduce((sum, { length }) => sum + length, 1);

function tooManyDocuments(): AppError {
  return busy('The service is busy: too many documents are being built');
}
