/** The methods that a table or view supports. */
import type { Relation } from '../catalog/catalog';
import { methodNotAllowed } from '../rest.errors';

/** For OPTIONS, and for the Allow header of a 405. */
export function allowedMethods(relation: Relation): string[] {
  const { insertable, updatable, deletable, primaryKey } = relation;
  return [
    ...['OPTIONS', 'GET', 'HEAD'],
    ...(insertable ? ['POST'] : []),
    ...(insertable && updatable && primaryKey.length > 0 ? ['PUT'] : []),
    ...(updatable ? ['PATCH'] : []),
    ...(deletable ? ['DELETE'] : []),
  ];
}

/** @throws AppError PL156 */
export function assertPossible(relation: Relation, method: string, possible: boolean): void {
  if (!possible) throw methodNotAllowed(relation.name, method, allowedMethods(relation).join(', '));
}
