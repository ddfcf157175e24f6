/**
 * Requests that were prepared before. Planning and building SQL cost more than all else that a small request needs of the
 * process, and most requests differ from an earlier one in their values alone.
 */
import { LRUCache } from 'lru-cache';
import type { Payload } from './body/payload';
import type { Catalog } from './catalog/catalog';
import type { RestRequest } from './grammar/rest-request';
import { shapeOf } from './plan/request-shape';
import type { Asker, PreparedRequest } from './prepare-request';

/** Of all projects together; one takes a few kilobytes. */
const KEPT = 2_000;
/** Characters in the query of a request that is kept: rarely does a longer one come again, and its values stay with it. */
const LONGEST_QUERY = 2_000;

/** Characters of a shape that is kept, which has the names of the body's columns in it: a client chooses them, and how many. */
const LONGEST_SHAPE = 8_000;

interface Kept {
  readonly prepared: PreparedRequest;
  /** Of the project, whose settings are part of a plan. */
  readonly revision: string;
}

export class PreparedRequests {
  private readonly kept = new LRUCache<string, Kept>({ max: KEPT });
  /** Each catalog, which is never changed but replaced, has a number of its own; nothing is found by an old one's. */
  private readonly numbers = new WeakMap<Catalog, number>();
  private catalogs = 0;

  /** What was prepared for a request of the same shape, or else what `prepare` gives. */
  of(
    { project, role }: Asker,
    catalog: Catalog,
    request: RestRequest,
    payload: Payload | null,
    prepare: () => PreparedRequest,
  ): PreparedRequest {
    const shape = request.kind === 'table' ? shapeOf(request, payload) : null;
    if (shape === null || shape.length > LONGEST_SHAPE) return prepare();
    const key = `${this.numberOf(catalog)}\0${role}\0${shape}`;
    const found = this.kept.get(key);
    if (found?.revision === project.revision) return found.prepared;
    const prepared = prepare();
    if (lengthOf(request) <= LONGEST_QUERY) this.kept.set(key, { prepared, revision: project.revision });
    return prepared;
  }

  private numberOf(catalog: Catalog): number {
    let number = this.numbers.get(catalog);
    if (number === undefined) this.numbers.set(catalog, (number = this.catalogs += 1));
    return number;
  }
}

function lengthOf({ query }: RestRequest): number {
  return query.parameters.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
}
