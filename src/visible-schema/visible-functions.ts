/** Functions that a role may execute: those that `rpc/` calls, computed fields and computed relationships. */
import {
  type Catalog,
  nameKey,
  type QualifiedName,
  type Relationship,
  type Routine,
} from '../rest/catalog/catalog';
import type { RoutineFacts, TypeFacts } from './project-facts';
import type { VisibleRelation } from './visible-relation';

export interface VisibleFunction extends QualifiedName {
  readonly comment: string | null;
  /** The type of its result as format_type() writes it. */
  readonly result: string;
  readonly returnsSet: boolean;
  /** Null for a function that only `select` can call, with a row. */
  readonly routine: Routine | null;
  /** The relation whose row is its one argument. */
  readonly rowOf: QualifiedName | null;
  /** The relation that a computed relationship leads to. */
  readonly leadsTo: { readonly to: QualifiedName; readonly toOne: boolean } | null;
  /** True for a computed field of `rowOf`. */
  readonly isField: boolean;
}

/** A function that `rpc/` calls. */
export interface CallableFunction extends VisibleFunction {
  readonly routine: Routine;
}

export const isCallable = (one: VisibleFunction): one is CallableFunction => one.routine !== null;

interface Options {
  readonly catalog: Catalog;
  readonly types: ReadonlyMap<string, TypeFacts>;
  readonly relationsByName: ReadonlyMap<string, VisibleRelation>;
}

export function* visibleFunctions(
  facts: readonly RoutineFacts[],
  options: Options,
): Generator<void, VisibleFunction[]> {
  const functions: VisibleFunction[] = [];
  for (const one of facts) {
    const visible = visibleFunction(one, options);
    if (visible.routine || visible.isField || visible.leadsTo) functions.push(visible);
    yield;
  }
  return functions.sort(byPlace(options.catalog));
}

function visibleFunction(facts: RoutineFacts, options: Options): VisibleFunction {
  const { schema, name, comment, result, returns_set: returnsSet } = facts;
  const { catalog, relationsByName } = options;
  const rowOf = argumentRelation(facts, options);
  const leading = rowOf ? computedRelationship(facts, rowOf, options) : undefined;
  const fields = (rowOf && catalog.relations.get(nameKey(rowOf))?.computed.get(name)) ?? [];
  const leadsTo = leading && relationsByName.get(nameKey(leading.to))?.maySelect ? leading : null;
  return {
    schema,
    name,
    comment,
    result,
    returnsSet,
    routine: routineOf(facts, catalog),
    rowOf,
    leadsTo,
    isField: !leading && fields.some((field) => field.schema === schema),
  };
}

function routineOf(facts: RoutineFacts, { routines }: Catalog): Routine | null {
  const signature = facts.types.join('\0');
  const overloads = routines.get(nameKey(facts)) ?? [];
  return overloads.find((one) => one.arguments.map(({ type }) => type).join('\0') === signature) ?? null;
}

/** The relation of the only argument's row type; null if the role may not read it. */
function argumentRelation(
  { types: argumentTypes }: RoutineFacts,
  { types, relationsByName }: Options,
): QualifiedName | null {
  const [only, ...others] = argumentTypes;
  const type = only === undefined || others.length > 0 ? undefined : types.get(only);
  if (type?.kind !== 'c' || type.attributes) return null;
  const relation = relationsByName.get(nameKey({ schema: type.schema, name: type.type_name }));
  return relation?.maySelect ? relation.relation : null;
}

/** The computed relationship of that name, whether or not the role may read its rows. */
function computedRelationship(
  { schema, name }: RoutineFacts,
  rowOf: QualifiedName,
  { catalog }: Options,
): Extract<Relationship, { kind: 'computed' }> | undefined {
  return (catalog.relationships.get(nameKey(rowOf)) ?? [])
    .filter((one) => one.kind === 'computed')
    .find(({ routine }) => routine.schema === schema && routine.name === name);
}

/** Overloads in the catalog's order, which does not depend on the order of the rows that were read. */
function byPlace({ routines }: Catalog): (a: VisibleFunction, b: VisibleFunction) => number {
  const place = (one: VisibleFunction): number =>
    one.routine ? (routines.get(nameKey(one)) ?? []).indexOf(one.routine) : -1;
  return (a, b) => place(a) - place(b);
}
