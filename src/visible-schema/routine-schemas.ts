/** The arguments and the result of a function as JSON Schema. */
import type { QualifiedName, Routine, RoutineArgument } from '../rest/catalog/catalog';
import { nullable, type Schema } from './json-schema';
import type { TypeSchemas } from './type-schemas';

/** The body of a call. */
export function namedArguments(declared: readonly RoutineArgument[], types: TypeSchemas): Schema {
  const required = declared.filter((argument) => argument.required).map(({ name }) => name);
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties: members(declared, types),
  };
}

export interface ResultOptions {
  readonly types: TypeSchemas;
  /** The component of a relation's rows; null where the role may not see it. */
  readonly rowOf: (name: QualifiedName) => Schema | null;
}

/** One row or value of the result. @param result its type as format_type() writes it */
export function resultSchema(routine: Routine, result: string, { types, rowOf }: ResultOptions): Schema {
  if (routine.result === 'scalar') return nullable(types.of(result));
  if (routine.relation) return rowOf(routine.relation) ?? { type: 'object' };
  if (routine.columns.size === 0) return types.of(result);
  return { type: 'object', properties: members([...routine.columns.values()], types) };
}

type Typed = { readonly name: string; readonly inputType: string };

function members(all: readonly Typed[], types: TypeSchemas): Readonly<Record<string, Schema>> {
  return Object.fromEntries(all.map(({ name, inputType }) => [name, nullable(types.of(inputType))]));
}
