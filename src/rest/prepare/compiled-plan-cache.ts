/**
 * Compiled plans by the shape of the request. Planning and building SQL cost more than all else that a small request needs
 * of the process, and most requests differ from an earlier one in their values alone.
 */
import { LRUCache } from 'lru-cache';
import type { ProjectSettings } from '../../projects/project-settings';
import type { Payload } from '../body/payload';
import type { Catalog } from '../catalog/catalog';
import type { RestRequest } from '../grammar/rest-request';
import { shapeOf } from '../plan/request-shape';
import type { CompiledPlan, PlanScope } from './compiled-plan';

/** Of all projects together; one takes a few kilobytes. */
const KEPT = 2_000;
/** Characters in the query of a request whose plan is kept: a longer one rarely comes again, and its values stay with the plan. */
const LONGEST_QUERY = 2_000;

/** Characters of a shape that is kept. It contains the names of the body's columns, and a client chooses those. */
const LONGEST_SHAPE = 8_000;

interface Kept {
  readonly plan: CompiledPlan;
  /** Replaced as a whole when any of them changes. */
  readonly settings: ProjectSettings;
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
    request: RestRequest,
    payload: Payload | null,
    make: () => CompiledPlan,
  ): CompiledPlan {
    const shape = request.kind === 'table' ? shapeOf(request, payload) : null;
    if (shape === null || shape.length > LONGEST_SHAPE) return make();
    const key = `${this.numberOf(catalog)}\0${role}\0${shape}`;
    const found = this.kept.get(key);
    if (found?.settings === project.settings) return found.plan;
    const plan = make();
    if (lengthOf(request) <= LONGEST_QUERY) this.kept.set(key, { plan, settings: project.settings });
    return plan;
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
