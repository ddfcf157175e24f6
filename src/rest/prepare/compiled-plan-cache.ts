/**
 * Compiled plans by the shape of the request. Planning and building SQL cost more than all else that a small request needs
 * of the process, and most requests differ from an earlier one in their values alone.
 */
import { LRUCache } from 'lru-cache';
import type { Payload } from '../body/payload';
import type { Catalog } from '../catalog/catalog';
import type { RequestShape } from '../grammar/rest-request';
import type { CompiledPlan, PlanScope } from './compiled-plan';
import { planKey } from './plan-key';

/** Of all projects together; one takes a few kilobytes. */
const KEPT = 2_000;
/** Characters of a query, without its values, whose plan is kept: a longer one rarely comes again. */
const LONGEST_QUERY = 2_000;

/** Characters of a key that is kept. It contains the names of the body's columns, and a client chooses those. */
const LONGEST_KEY = 8_000;

interface Kept {
  readonly plan: CompiledPlan;
  /** Of the project, whose settings are part of a plan. */
  readonly revision: string;
}

export class CompiledPlanCache {
  private readonly kept = new LRUCache<string, Kept>({ max: KEPT });
  /** A catalog is never changed but replaced, and each has a number: the plans of an old one are not found any more. */
  private readonly numbers = new WeakMap<Catalog, number>();
  private catalogs = 0;

  /** The plan that was compiled for a request of the same shape, or else the one that `make` gives. */
  of(
    { project, role }: PlanScope,
    catalog: Catalog,
    shape: RequestShape,
    payload: Payload | null,
    make: () => CompiledPlan,
  ): CompiledPlan {
    const ofShape = shape.kind === 'table' ? planKey(shape, payload) : null;
    if (ofShape === null || ofShape.length > LONGEST_KEY) return make();
    const key = `${this.numberOf(catalog)}\0${role}\0${ofShape}`;
    const found = this.kept.get(key);
    if (found?.revision === project.revision) return found.plan;
    const plan = make();
    if (shape.query.text.length <= LONGEST_QUERY) this.kept.set(key, { plan, revision: project.revision });
    return plan;
  }

  private numberOf(catalog: Catalog): number {
    let number = this.numbers.get(catalog);
    if (number === undefined) this.numbers.set(catalog, (number = this.catalogs += 1));
    return number;
  }
}
