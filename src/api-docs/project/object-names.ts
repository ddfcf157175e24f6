/**
 * The names of a project's relations, types and functions in its document and in its types of TypeScript.
 * They depend only on the objects that the role may see, not on the order in which they are read.
 */
import { nameKey, type QualifiedName } from '../../rest/catalog/catalog';
import { firstNumbered, NameAllocator, preferredStem, qualifiedStem } from './names';

export interface RelationStems {
  /** `OrderItems`: the row; with `Insert` and `Update` the bodies. */
  readonly schema: string;
  /** `OrderItems` in `selectOrderItems`. */
  readonly operation: string;
}

export interface ObjectNames {
  relation(name: QualifiedName): RelationStems;
  /** The component of an enum or composite type. */
  type(name: QualifiedName): string;
  /** `Add` in `callAdd`, `AddArgs` and `AddResult`. */
  routine(name: QualifiedName): string;
}

export interface NamedObjects {
  readonly relations: readonly QualifiedName[];
  readonly types: readonly QualifiedName[];
  readonly routines: readonly QualifiedName[];
  /** Components and operation ids that have other meanings. */
  readonly reservedSchemas: readonly string[];
  readonly reservedOperations: readonly string[];
  readonly defaultSchema: string;
}

const schemaForms = (stem: string): string[] => [stem, `${stem}Insert`, `${stem}Update`];
const operationForms = (stem: string): string[] => [
  `select${stem}`,
  `insert${stem}`,
  `upsert${stem}`,
  `update${stem}`,
  `delete${stem}`,
];
const callForms = (stem: string): string[] => [`call${stem}`, `get${stem}`];
const valueForms = (stem: string): string[] => [`${stem}Args`, `${stem}Result`];

/** Reserves the names that are derived from a stem; false if one of them is taken. */
type Claim = (stem: string) => boolean;
type Forms = (stem: string) => readonly string[];

/** @param spaces each with the names that must be free in it */
function claimOf(...spaces: readonly (readonly [NameAllocator, Forms])[]): Claim {
  return (stem) => {
    if (!spaces.every(([allocator, forms]) => allocator.areFree(forms(stem)))) return false;
    for (const [allocator, forms] of spaces) allocator.take(forms(stem));
    return true;
  };
}

/** Yields between its steps, so that a caller can yield to the event loop. */
export function* nameObjects(objects: NamedObjects): Generator<void, ObjectNames> {
  const { defaultSchema } = objects;
  const schemas = new NameAllocator(objects.reservedSchemas);
  const operations = new NameAllocator(objects.reservedOperations);
  const sorted = (names: readonly QualifiedName[]): QualifiedName[] => inNamingOrder(names, defaultSchema);
  const relations = sorted(objects.relations);
  const preferred = (name: QualifiedName): string => preferredStem(name, defaultSchema);
  const relationSchemas = yield* assign(relations, claimOf([schemas, schemaForms]), preferred);
  const types = yield* assign(sorted(objects.types), claimOf([schemas, (stem) => [stem]]), preferred);
  // Usually the same as the schema's name, unless an operation of auth or storage has it.
  const own = (name: QualifiedName): string => stemOf(relationSchemas, name);
  const relationOperations = yield* assign(relations, claimOf([operations, operationForms]), own);
  const ofRoutines = claimOf([operations, callForms], [schemas, valueForms]);
  const routines = yield* assign(sorted(objects.routines), ofRoutines, preferred);
  return {
    relation: (name) => ({
      schema: stemOf(relationSchemas, name),
      operation: stemOf(relationOperations, name),
    }),
    type: (name) => stemOf(types, name),
    routine: (name) => stemOf(routines, name),
  };
}

/** An object whose preferred name is free keeps it; other objects get their schema's name, and a number if needed. */
function* assign(
  names: readonly QualifiedName[],
  claim: Claim,
  preferred: (name: QualifiedName) => string,
): Generator<void, Map<string, string>> {
  const stems = new Map<string, string>();
  for (const name of names) {
    const stem = preferred(name);
    if (claim(stem)) stems.set(nameKey(name), stem);
    yield;
  }
  for (const name of names) {
    if (!stems.has(nameKey(name))) stems.set(nameKey(name), firstNumbered(qualifiedStem(name), claim));
    yield;
  }
  return stems;
}

function stemOf(stems: ReadonlyMap<string, string>, name: QualifiedName): string {
  const stem = stems.get(nameKey(name));
  if (stem === undefined) throw new Error(`no name was assigned to ${name.schema}.${name.name}`);
  return stem;
}

/** The default schema first; in a schema, names of lower-case letters, digits and `_` first; then by code units. */
function inNamingOrder(names: readonly QualifiedName[], defaultSchema: string): QualifiedName[] {
  const rank = ({ schema, name }: QualifiedName): string =>
    [schema === defaultSchema ? 0 : 1, schema, /^[a-z0-9_]+$/.test(name) ? 0 : 1, name].join('\0');
  return names
    .map((name) => ({ name, rank: rank(name) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
    .map(({ name }) => name);
}
