/** The input of planning besides the request: the catalog, and the part of it that the project exposes. */
import type { Catalog, QualifiedName, Relation, Routine } from '../catalog/catalog';
import { nameKey } from '../catalog/catalog';

export interface PlanContext {
  readonly catalog: Catalog;
  /** The schema of this request: given by its target, a profile header, or the first exposed schema. */
  readonly schema: string;
  readonly exposedSchemas: readonly string[];
  readonly extraSearchPath: readonly string[];
  readonly maxRows: number | null;
  /** The role of the request. Errors and hints never name objects on which it has no privileges. */
  readonly role: string;
}

export function findRelation({ catalog }: PlanContext, name: QualifiedName): Relation | null {
  return catalog.relations.get(nameKey(name)) ?? null;
}

/** True when the caller has privileges on the relation. Hints and lists of candidates name no other. */
export function isVisible(context: Pick<PlanContext, 'catalog' | 'role'>, name: QualifiedName): boolean {
  const grantees = context.catalog.relations.get(nameKey(name))?.grantees;
  return grantees !== undefined && (grantees.has(context.role) || grantees.has('public'));
}

/** True when the caller may execute the function. */
export function isCallable({ role }: Pick<PlanContext, 'role'>, { grantees }: Routine): boolean {
  return grantees === null || grantees.has(role) || grantees.has('public');
}

/** True when the function's schema is on the request's search_path. */
export function isInReach(context: PlanContext, { schema }: QualifiedName): boolean {
  return schema === context.schema || context.extraSearchPath.includes(schema);
}
