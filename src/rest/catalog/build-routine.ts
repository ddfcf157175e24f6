/** Builds a Routine from a row of pg_proc. */
import type { Column, Routine, RoutineArgument } from './catalog';
import type { RoutineRow } from './catalog-rows';
import { typeClassOf } from './type-class';
import type { SchemaIndex } from './schema-index';

const VOLATILITY = { i: 'immutable', s: 'stable', v: 'volatile' } as const;

/** Types whose bare name means length one: a cast to it would truncate a value, or refuse it. */
const UNBOUNDED: Readonly<Record<string, string>> = {
  bit: 'bit varying',
  'bit[]': 'bit varying[]',
  character: 'character varying',
  'character[]': 'character varying[]',
};

/** Types of a single unnamed argument, which receives the whole body. */
const BODY_TYPES = new Set(['json', 'jsonb', 'text', 'xml', 'bytea']);

/** Null for a function that cannot be called with named arguments. */
export function buildRoutine(row: RoutineRow, index: SchemaIndex): Routine | null {
  const args = argumentsOf(row);
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

function argumentsOf(row: RoutineRow): RoutineArgument[] {
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
