/** The relations, functions and types of the exposed schemas as one role sees them, in the order of their names. */
import type { Project } from '../projects/project';
import { type Catalog, nameKey, type QualifiedName } from '../rest/catalog/catalog';
import { type ProjectFacts, type TypeFacts, typeName } from './project-facts';
import { readableColumns, visibleRelation, type VisibleRelation } from './visible-relation';
import {
  type CallableFunction,
  isCallable,
  type VisibleFunction,
  visibleFunctions,
} from './visible-functions';

export interface VisibleSchema {
  /** The first schema is the default. */
  readonly schemas: readonly string[];
  readonly defaultSchema: string;
  readonly catalog: Catalog;
  readonly relations: readonly VisibleRelation[];
  readonly relationsByName: ReadonlyMap<string, VisibleRelation>;
  /** Columns that the role may read, by nameKey() of their relations. */
  readonly readable: ReadonlyMap<string, ReadonlySet<string>>;
  /** Overloads together, in the catalog's order. */
  readonly functions: readonly Overloads<VisibleFunction>[];
  /** Functions that `rpc/` can call. */
  readonly callable: readonly Overloads<CallableFunction>[];
  readonly types: ReadonlyMap<string, TypeFacts>;
  /** Enums and composite types of the exposed schemas. */
  readonly declaredTypes: readonly TypeFacts[];
}

/** Accounts, sessions and tokens are internal, whatever a project exposes. */
export function documentedSchemas({ settings }: Project): string[] {
  return settings.exposed_schemas.filter((schema) => schema !== 'auth');
}

/** At least one. */
export type Overloads<Item> = readonly [Item, ...Item[]];

/** Yields between its steps, so that a caller can yield to the event loop. */
export function* visibleSchema(
  catalog: Catalog,
  facts: ProjectFacts,
  schemas: readonly string[],
): Generator<void, VisibleSchema> {
  const relations: VisibleRelation[] = [];
  const readable = new Map<string, ReadonlySet<string>>();
  for (const one of facts.relations) {
    const relation = catalog.relations.get(nameKey(one));
    // Partitions are accessed through their table.
    const visible = relation && !relation.isPartition ? visibleRelation(relation, one) : null;
    if (visible) relations.push(visible);
    if (visible?.maySelect) readable.set(nameKey(one), readableColumns(visible));
    yield;
  }
  relations.sort((a, b) => compareNames(a.relation, b.relation));
  const types = new Map(facts.types.map((type) => [type.name, type]));
  const relationsByName = new Map(relations.map((one) => [nameKey(one.relation), one]));
  const functions = yield* visibleFunctions(facts.routines, { catalog, types, relationsByName });
  yield;
  return {
    schemas,
    defaultSchema: schemas[0] ?? 'public',
    catalog,
    relations,
    relationsByName,
    readable,
    functions: overloadsOf(functions),
    callable: overloadsOf(functions.filter(isCallable)),
    types,
    declaredTypes: facts.types
      .filter((type) => schemas.includes(type.schema) && type.usable && (type.labels ?? type.attributes))
      .sort((a, b) => compareNames(typeName(a), typeName(b))),
  };
}

/** Sorts by code point, so that the result does not depend on a locale. */
export function compareNames(a: QualifiedName, b: QualifiedName): number {
  return compareText(a.schema, b.schema) || compareText(a.name, b.name);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function overloadsOf<Item extends VisibleFunction>(functions: readonly Item[]): Overloads<Item>[] {
  const byName = new Map<string, [Item, ...Item[]]>();
  for (const one of [...functions].sort(compareNames)) {
    const others = byName.get(nameKey(one));
    if (others) others.push(one);
    else byName.set(nameKey(one), [one]);
  }
  return [...byName.values()];
}
