/** What planning one request may look at: the catalog, and what the project's settings open of it. */
import type { Catalog, QualifiedName, Relation } from '../catalog/catalog';
import { nameKey } from '../catalog/catalog';

export interface PlanContext {
  readonly catalog: Catalog;
  /** The schema of this request: the one of its target, the profile header's, or the first exposed one. */
  readonly schema: string;
  readonly exposedSchemas: readonly string[];
  readonly extraSearchPath: readonly string[];
  readonly maxRows: number | null;
}

export function findRelation({ catalog }: PlanContext, name: QualifiedName): Relation | null {
  return catalog.relations.get(nameKey(name)) ?? null;
}

/** A function is in reach when its schema is on the request's search_path. */
export function isInReach(context: PlanContext, { schema }: QualifiedName): boolean {
  return schema === context.schema || context.extraSearchPath.includes(schema);
}
