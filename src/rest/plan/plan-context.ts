/** The input of planning besides the request: the catalog, and the part of it that the project's settings expose. */
import type { Catalog, QualifiedName, Relation, Routine } from '../catalog/catalog';
import { nameKey } from '../catalog/catalog';

export interface PlanContext {
  readonly catalog: Catalog;
  /** The schema of this request: the one of its target, the profile header's, or the first exposed one. */
  readonly schema: string;
  readonly exposedSchemas: readonly string[];
  readonly extraSearchPath: readonly string[];
  readonly maxRows: number | null;
  /** The role of the request. Objects that it has no rights to are never named to it. */
  readonly role: string;
}

export function findRelation({ catalog }: PlanContext, name: QualifiedName): Relation | null {
  return catalog.relations.get(nameKey(name)) ?? null;
}

/** True when the caller has rights to the relation: hints and lists of candidates name no other. */
export function isVisible(context: Pick<PlanContext, 'catalog' | 'role'>, name: QualifiedName): boolean {
  const grantees = context.catalog.relations.get(nameKey(name))?.grantees;
  return grantees !== undefined && (grantees.has(context.role) || grantees.has('public'));
}

/** The same for a function. */
export function isCallable({ role }: Pick<PlanContext, 'role'>, { grantees }: Routine): boolean {
  return grantees === null || grantees.has(role) || grantees.has('public');
}

/** A function is in reach when its schema is on the request's search_path. */
export function isInReach(context: PlanContext, { schema }: QualifiedName): boolean {
  return schema === context.schema || context.extraSearchPath.includes(schema);
}
