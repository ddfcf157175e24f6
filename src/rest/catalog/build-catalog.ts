/** Builds a Catalog from the rows that were read. Pure; linear in the number of rows. */
import { createHash } from 'node:crypto';
import { inSlices } from '../../common/time/slices';
import { buildRelationships } from './build-relationships';
import {
  type Catalog,
  type Column,
  type ComputedField,
  type MediaHandler,
  nameKey,
  type Relation,
  type RelationKind,
  type Representation,
  representationKey,
  type Routine,
  typeClassOf,
  type RoutineArgument,
} from './catalog';
import type {
  CatalogRows,
  ColumnRow,
  HandlerRow,
  RelationRow,
  WithheldRow,
  RoutineRow,
} from './catalog-rows';
import { SchemaIndex } from './schema-index';

const KINDS: Readonly<Record<RelationRow['kind'], RelationKind>> = {
  r: 'table',
  v: 'view',
  m: 'materialized-view',
  f: 'foreign-table',
  p: 'partitioned-table',
};

/** Yields to the event loop: a schema of thousands of tables takes a few hundred milliseconds. */
export function buildCatalog(rows: CatalogRows): Promise<Catalog> {
  return inSlices(catalogSteps(rows));
}

/** The steps of buildCatalog(). */
export function* catalogSteps(rows: CatalogRows): Generator<void, Catalog> {
  const index = new SchemaIndex();
  yield* index.fill(rows);
  const relations = new Map<string, Relation>();
  const computed = computedFields(rows);
  const withheld = new Map(rows.withheld.map((row) => [row.relation, row]));
  for (const row of rows.relations) {
    const fields = computed.get(row.oid) ?? new Map<string, ComputedField[]>();
    relations.set(nameKey(row), buildRelation(row, index, fields, withheld.get(row.oid)));
    yield;
  }
  return {
    version: yield* versionOf(rows),
    fingerprint: rows.fingerprint,
    relations,
    relationships: yield* buildRelationships(index, rows.routines),
    routines: yield* routinesByName(rows, index),
    mediaHandlers: rows.handlers.map((row) => buildHandler(row, index)),
    representations: new Map(
      rows.representations.map((row): [string, Representation] => [
        representationKey(row.source, row.target),
        { source: row.source, target: row.target, routine: { schema: row.schema, name: row.name } },
      ]),
    ),
    roleSettings: settingsByRole(rows),
    revealingTypes: revealingTypes(rows),
    announcesDdl: rows.announcesDdl,
    setsResponse: rows.setsResponse,
    readsRequest: rows.readsRequest,
    leavesLocks: rows.leavesLocks,
  };
}

/** A hash of the content without the fingerprint: if a re-read finds no change, prepared statements are kept. */
function* versionOf(rows: CatalogRows): Generator<void, string> {
  const { fingerprint: _changesMoreOften, ...content } = rows;
  const hash = createHash('sha1');
  for (const [name, value] of Object.entries(content)) {
    hash.update(`\n${name}\n`);
    for (const row of [value].flat()) {
      hash.update(`${JSON.stringify(row)}\n`);
      yield;
    }
  }
  return hash.digest('base64url').slice(0, 10);
}

const NOBODY: ReadonlySet<string> = new Set();

function buildRelation(
  row: RelationRow,
  index: SchemaIndex,
  computed: Relation['computed'],
  withheld: WithheldRow | undefined,
): Relation {
  return {
    schema: row.schema,
    name: row.name,
    kind: KINDS[row.kind],
    columns: new Map((row.columns ?? []).map((column) => [column[1], buildColumn(column)])),
    primaryKey: index.primaryKeyOf(row.oid),
    insertable: (row.updatable & 8) !== 0,
    updatable: (row.updatable & 4) !== 0,
    deletable: (row.updatable & 16) !== 0,
    computed,
    isPartition: row.is_partition,
    grantees: new Set(row.grantees ?? []),
    hiddenFrom: withheld?.hidden_from ? new Set(withheld.hidden_from) : NOBODY,
    closedTo: withheld?.closed_to ? new Set(withheld.closed_to) : NOBODY,
  };
}

function buildColumn([, name, inputType, declaredType, baseType, nullable, hasDefault]: ColumnRow): Column {
  return { name, inputType, declaredType, typeClass: typeClassOf(baseType), nullable, hasDefault };
}

/** Computed fields, by the row's relation and by name: functions of one row that return one value. */
function computedFields({ routines }: CatalogRows): Map<string, Map<string, ComputedField[]>> {
  const fields = new Map<string, Map<string, ComputedField[]>>();
  for (const row of routines) {
    if (row.argument_relation === null || row.returns_set) continue;
    let ofRelation = fields.get(row.argument_relation);
    if (!ofRelation) fields.set(row.argument_relation, (ofRelation = new Map<string, ComputedField[]>()));
    const sameName = ofRelation.get(row.name) ?? [];
    const field = { schema: row.schema, name: row.name, typeClass: typeClassOf(row.base_name) };
    ofRelation.set(row.name, [...sameName, field]);
  }
  return fields;
}

/** Includes row types of relations that have a column of such a type, and arrays of them. */
function revealingTypes({ revealing, relations }: CatalogRows): Map<string, Set<string>> {
  const bySchema = new Map<string, Set<string>>();
  const add = (schema: string, name: string): void => {
    const names = bySchema.get(schema);
    if (names) names.add(name);
    else bySchema.set(schema, new Set([name]));
  };
  for (const { schema, name } of revealing) add(schema, name);
  const shown = new Set(revealing.map((one) => one.shown));
  for (const { schema, name, columns } of relations) {
    if (!columns?.some(([, , , , baseType]) => shown.has(baseType))) continue;
    add(schema, name);
    add(schema, `_${name}`);
  }
  return bySchema;
}

function settingsByRole({ roles }: CatalogRows): Map<string, Map<string, string>> {
  const byRole = new Map<string, Map<string, string>>();
  for (const { role, name, value } of roles) {
    const settings = byRole.get(role);
    if (settings) settings.set(name, value);
    else byRole.set(role, new Map([[name, value]]));
  }
  return byRole;
}

function* routinesByName(
  { routines }: CatalogRows,
  index: SchemaIndex,
): Generator<void, Map<string, Routine[]>> {
  const byName = new Map<string, Routine[]>();
  for (const row of routines) {
    yield;
    const routine = buildRoutine(row, index);
    if (!routine) continue;
    const overloads = byName.get(nameKey(routine));
    if (overloads) overloads.push(routine);
    else byName.set(nameKey(routine), [routine]);
  }
  for (const overloads of byName.values()) overloads.sort(byArguments);
  return byName;
}

/** PostgREST's order for listing candidate overloads: fewest arguments first, then by names and types. */
function byArguments(a: Routine, b: Routine): number {
  return a.arguments.length - b.arguments.length || compareText(argumentsOf(a), argumentsOf(b));
}

function argumentsOf(routine: Routine): string {
  return routine.arguments.map(({ name, type }) => `${name}\0${type}`).join('\0');
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function buildHandler(row: HandlerRow, index: SchemaIndex): MediaHandler {
  const routine = { schema: row.routine_schema, name: row.routine_name };
  return {
    mediaType: row.media_type,
    contentType: row.media_type === '*/*' ? 'application/octet-stream' : row.media_type,
    appliesTo: row.is_aggregate ? (row.relation === null ? null : index.nameOf(row.relation)) : routine,
    aggregate: row.is_aggregate ? routine : null,
    isBinary: row.is_binary,
  };
}

/** Builds a Routine from a row of pg_proc. */
const VOLATILITY = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** Types whose bare name implies length one: a cast to such a type would truncate or refuse a value. */
const UNBOUNDED: Readonly<Record<string, string>> = {
  bit: 'bit varying',
  'bit[]': 'bit varying[]',
  character: 'character varying',
  'character[]': 'character varying[]',
};

/** Types of a single unnamed argument, which receives the whole body. */
const BODY_TYPES = new Set(['json', 'jsonb', 'text', 'xml', 'bytea']);

/** Null for a function that cannot be called with named arguments. */
function buildRoutine(row: RoutineRow, index: SchemaIndex): Routine | null {
  const args = declaredArguments(row);
  const unnamed = args.filter(({ name }) => name === '');
  const takesBody = args.length === 1 && BODY_TYPES.has(args[0]?.type ?? '');
  if (unnamed.length > 0 && !takesBody) return null;
  return {
    schema: row.schema,
    name: row.name,
    arguments: args,
    volatility: VOLATILITY[row.volatility],
    result: row.is_composite ? 'composite' : row.result_name === 'void' ? 'void' : 'scalar',
    returnsSet: row.returns_set,
    relation: row.result_relation === null ? null : index.nameOf(row.result_relation),
    columns: outputColumns(row),
    resultType: { schema: row.result_schema, name: row.result_name },
    statementTimeout: row.statement_timeout,
    isolation: row.isolation,
    grantees: row.grantees && new Set(row.grantees),
  };
}

function declaredArguments(row: RoutineRow): RoutineArgument[] {
  const types = row.types ?? [];
  const inputs = (row.modes ?? types.map(() => 'i'))
    .map((mode, position) => ({ mode, name: row.names?.[position] ?? '' }))
    .filter(({ mode }) => mode === 'i' || mode === 'b' || mode === 'v');
  return inputs.map(({ mode, name }, position) => {
    const type = types[position] ?? 'unknown';
    return {
      name,
      type,
      inputType: UNBOUNDED[type] ?? type,
      required: position < types.length - row.default_count,
      variadic: mode === 'v' || (row.variadic && position === types.length - 1),
    };
  });
}

function outputColumns({ output }: RoutineRow): Map<string, Column> {
  return new Map(
    (output ?? []).map(([name, type]): [string, Column] => [
      name,
      {
        name,
        inputType: type,
        declaredType: type,
        typeClass: typeClassOf(type),
        nullable: true,
        hasDefault: false,
      },
    ]),
  );
}
