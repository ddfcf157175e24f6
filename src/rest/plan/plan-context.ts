/** The input of planning, in addition to the request: the catalog, and the part of it that the project exposes. */
import {
  type Catalog,
  type QualifiedName,
  type Relation,
  type Routine,
  nameKey,
  type Column,
  representationKey,
} from '../catalog/catalog';
import type { Field } from '../grammar/tree';
import { undefinedColumn, relationNotFound, restError, methodNotAllowed } from '../rest.errors';
import type { FieldPlan } from './plan';
import type { RequestShape, Target } from '../grammar/rest-request';
import { mostSimilar, NEARLY } from '../../http/input/similar';

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

/** True when the caller has privileges on the relation. Hints and lists of candidates name only such relations. */
export function isVisible(context: Pick<PlanContext, 'catalog' | 'role'>, name: QualifiedName): boolean {
  const grantees = context.catalog.relations.get(nameKey(name))?.grantees;
  return grantees !== undefined && (grantees.has(context.role) || grantees.has('public'));
}

/** True when the caller may execute the function. */
export function isCallable({ role }: Pick<PlanContext, 'role'>, { grantees }: Routine): boolean {
  return grantees === null || grantees.has(role) || grantees.has('public');
}

/** True when the function's schema is on the request's search_path. */
function isInReach(context: PlanContext, { schema }: QualifiedName): boolean {
  return schema === context.schema || context.extraSearchPath.includes(schema);
}

/** The row type that contains a field: a relation's, or the result of a function that returns no relation. */
export interface RowType {
  /** The name for messages. */
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly computed: Relation['computed'];
}

/** @throws AppError 42703 when the row has no such field. */
export function resolveField(context: PlanContext, row: RowType, { name, path }: Field): FieldPlan {
  const column = row.columns.get(name);
  if (column) {
    return {
      base: { kind: 'column', name },
      path,
      toJsonb: path.length > 0 && column.typeClass !== 'json',
      isTsvector: column.typeClass === 'tsvector' && path.length === 0,
      parse: path.length > 0 ? null : representation(context, 'text', column.declaredType),
    };
  }
  const routine = row.computed.get(name)?.find((one) => isInReach(context, one));
  if (!routine) throw undefinedColumn(row.name, name);
  return {
    base: { kind: 'computed', routine },
    path,
    toJsonb: path.length > 0 && routine.typeClass !== 'json',
    isTsvector: routine.typeClass === 'tsvector' && path.length === 0,
    parse: null,
  };
}

/** The function of a domain's cast, if the project has created one. */
export function representation(context: PlanContext, source: string, target: string): QualifiedName | null {
  return context.catalog.representations.get(representationKey(source, target))?.routine ?? null;
}

/** The name of a selected field in the result: its alias, the last key of its path, or else the column's name. */
export function outputName({ name, path }: Field, alias: string | null): string {
  if (alias !== null) return alias;
  const lastKey = path.findLast((step) => step.kind === 'key');
  return lastKey?.kind === 'key' ? lastKey.key : name;
}

/**
 * The schema of Accept-Profile or Content-Profile, or else the first exposed schema.
 * @throws AppError PL106 when it is not exposed
 */
export function schemaOf({ profile }: RequestShape, exposed: readonly string[]): string {
  if (profile === null) return exposed[0] ?? 'public';
  if (exposed.includes(profile)) return profile;
  throw restError('PL106', {
    message: `Invalid schema: ${profile}`,
    hint: `Only the following schemas are exposed: ${exposed.join(', ')}`,
  });
}

/**
 * The relation that a path names, `<table>` or `<schema>.<table>`, and the schema for the rest of the
 * request. A relation whose name contains the dot takes precedence. A schema that is not exposed gets the
 * same error as a schema that does not exist; so does a partition, because the policies of its table do not
 * apply when a partition is named directly.
 * @throws AppError PL205
 */
export function resolveRelation(
  context: PlanContext,
  target: Target,
): { relation: Relation; context: PlanContext } {
  for (const { schema, name } of target.candidates) {
    if (schema !== null && !context.exposedSchemas.includes(schema)) continue;
    const inSchema = schema === null ? context : { ...context, schema };
    const relation = findRelation(context, { schema: inSchema.schema, name });
    if (relation && !relation.isPartition) return { relation, context: inSchema };
  }
  throw relationNotFound(context.schema, target.text, similarRelation(context, target.text));
}

/** The closest name among the relations on which the caller has privileges. */
function similarRelation(context: PlanContext, name: string): string | null {
  const candidates = [...context.catalog.relations.values()]
    .filter(
      (relation) =>
        relation.schema === context.schema && !relation.isPartition && isVisible(context, relation),
    )
    .map((relation) => relation.name);
  return mostSimilar(name, candidates, NEARLY);
}

/** Methods for OPTIONS, and for the Allow header of a 405. */
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

/** @throws AppError PL156 if the relation does not support the method */
export function assertPossible(relation: Relation, method: string, possible: boolean): void {
  if (!possible) throw methodNotAllowed(relation.name, method, allowedMethods(relation).join(', '));
}
