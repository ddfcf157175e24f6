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
  /** Rejected for a document that is too large, so that it is not written again for each request. */
  readonly document: Promise<ServedDocument>;
  readonly catalog: Catalog;
  /** Bytes; at least 1, as the cache requires. */
  readonly size: number;
}

export class RoleDocuments {
  private readonly kept = new LRUCache<string, Kept>({
    maxSize: CACHED_BYTES,
    sizeCalculation: ({ size }) => size,
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
    if (kept?.catalog === catalog) return kept.document;
    const runningKey = `${catalog.fingerprint}\0${key}`;
    const running = this.running.get(runningKey);
    if (running) return running;
    const made = this.keep(key, catalog, this.slots.use(make, tooManyDocuments, tenant)).finally(() =>
      this.running.delete(runningKey),
    );
    this.running.set(runningKey, made);
    return made;
  }

  private async keep(
    key: string,
    catalog: Catalog,
    document: Promise<ServedDocument>,
  ): Promise<ServedDocument> {
    const size = await document.then(
      ({ zipped }) => zipped.reduce((sum, { length }) => sum + length, 1),
      (error: unknown) => (error instanceof DocumentTooLargeError ? 1 : null),
    );
    if (size !== null) this.kept.set(key, { document, catalog, size });
    return document;
  }
}

function tooManyDocuments(): AppError {
  return busy('The service is busy: too many documents are being built');
}
